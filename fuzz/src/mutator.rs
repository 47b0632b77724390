//! New inputs from old ones, the same each time: for the run of the fuzz targets on stable Rust.

/// The most bytes that an input grows to.
pub const MAX_INPUT: usize = 4096;
/// The most changes that one input goes through.
const MAX_CHANGES: usize = 6;

/// A small generator of numbers (SplitMix64): two of one seed give the same.
pub struct Generator(u64);

impl Generator {
    /// The generator that starts at `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 where `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        let number = self.next().checked_rem(end as u64).unwrap_or(0);
        usize::try_from(number).unwrap_or(0)
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }

    /// A part of what has `length` bytes; short ones are more likely.
    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        let longest = self.below(length - start + 1);
        start..start + self.below(longest + 1)
    }
}

/// Makes inputs from seeds and from pieces of text that mean something to the target.
pub struct Mutator<'a> {
    generator: Generator,
    seeds: &'a [Vec<u8>],
    tokens: &'a [&'a str],
}

impl<'a> Mutator<'a> {
    /// `seeds` and `tokens` have at least one entry each.
    pub fn new(seed: u64, seeds: &'a [Vec<u8>], tokens: &'a [&'a str]) -> Self {
        Self { generator: Generator::new(seed), seeds, tokens }
    }

    /// The next input: nine of ten are a seed after some changes, the others random.
    pub fn input(&mut self) -> Vec<u8> {
        let mut input = if self.generator.below(10) == 0 { self.random() } else { self.changed() };
        input.truncate(MAX_INPUT);
        input
    }

    fn changed(&mut self) -> Vec<u8> {
        let mut input = self.seed().to_vec();
        // Half of them go through one change only, or few would still be anything.
        let most = if self.generator.below(2) == 0 { 1 } else { MAX_CHANGES };
        for _ in 0..=self.generator.below(most) {
            self.change(&mut input);
        }
        input
    }

    /// Random bytes, or random tokens and characters: the second are texts, which come further.
    fn random(&mut self) -> Vec<u8> {
        let length = self.generator.below(64);
        if self.generator.below(2) == 0 {
            return (0..length).map(|_| self.generator.byte()).collect();
        }
        let mut input = Vec::new();
        for _ in 0..length {
            input.extend(self.piece());
        }
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let generator = &mut self.generator;
        match generator.below(14) {
            // One bit.
            0 => {
                let place = generator.below(input.len());
                let bit = generator.below(8);
                if let Some(byte) = input.get_mut(place) {
                    *byte ^= 1 << bit;
                }
            }
            // One byte.
            1 => {
                let place = generator.below(input.len());
                let byte = generator.byte();
                if let Some(found) = input.get_mut(place) {
                    *found = byte;
                }
            }
            // The end is cut off.
            2 => input.truncate(generator.below(input.len() + 1)),
            // A part is left out.
            3 => drop(input.drain(generator.range(input.len()))),
            // A part comes again, elsewhere.
            4 => {
                let part = input[generator.range(input.len())].to_vec();
                self.insert(input, part);
            }
            // A part is replaced by a piece.
            5 => {
                let range = generator.range(input.len());
                let piece = self.piece();
                input.splice(range, piece);
            }
            // A piece goes in.
            6 => {
                let piece = self.piece();
                self.insert(input, piece);
            }
            // A word becomes another word of some seed: this breaks the least.
            7..=9 => {
                let word = self.word(input);
                let other = self.seed();
                let replacement = other[self.word(other)].to_vec();
                input.splice(word, replacement);
            }
            // A piece goes in beside a word, with what keeps members apart.
            10..=12 => {
                let word = self.word(input);
                let mut piece = self.piece();
                piece.push(b',');
                // Before the quote or whatever else stands before the word.
                let place = word.start.saturating_sub(1);
                input.splice(place..place, piece);
            }
            // The head of this one, the tail of another.
            _ => {
                let other = self.seed();
                let tail = self.generator.below(other.len() + 1);
                input.truncate(self.generator.below(input.len() + 1));
                input.extend_from_slice(&other[tail..]);
            }
        }
    }

    fn insert(&mut self, input: &mut Vec<u8>, piece: Vec<u8>) {
        let place = self.generator.below(input.len() + 1);
        if input.len() + piece.len() <= MAX_INPUT {
            input.splice(place..place, piece);
        }
    }

    /// A run of letters and digits: the next one from some place on.
    fn word(&mut self, input: &[u8]) -> std::ops::Range<usize> {
        let from = self.generator.below(input.len());
        let part_of_word = |byte: &u8| byte.is_ascii_alphanumeric();
        let start = input.iter().skip(from).position(part_of_word).map_or(input.len(), |start| from + start);
        let length = input.iter().skip(start).position(|byte| !part_of_word(byte)).unwrap_or(input.len() - start);
        start..start + length
    }

    /// A token, a character of any plane, or many times the same.
    fn piece(&mut self) -> Vec<u8> {
        let token = self.tokens.get(self.generator.below(self.tokens.len())).map_or("", |token| *token);
        match self.generator.below(12) {
            0 => token.repeat(1 + self.generator.below(200)).into_bytes(),
            1 | 2 => self.character().to_string().into_bytes(),
            _ => token.as_bytes().to_vec(),
        }
    }

    /// Low planes are more likely, since most rules are about them.
    fn character(&mut self) -> char {
        let ends = [0x80, 0x800, 0x3000, 0x1_0000, 0x11_0000];
        let end = ends[self.generator.below(ends.len())];
        let point = u32::try_from(self.generator.below(end)).unwrap_or(0);
        char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn seed(&mut self) -> &'a [u8] {
        self.seeds.get(self.generator.below(self.seeds.len())).map_or(&[], Vec::as_slice)
    }
}
