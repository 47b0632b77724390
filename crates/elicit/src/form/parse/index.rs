//! The places in a list, as keys of a pointer.

/// The digits of a number, without an allocation: a place is made for each entry, and read for a faulty one alone.
pub(super) struct Index {
    digits: [u8; 20],
    start: usize,
}

impl Index {
    pub(super) fn new(mut number: usize) -> Self {
        let mut digits = [b'0'; 20];
        let mut start = digits.len();
        for digit in digits.iter_mut().rev() {
            start -= 1;
            // A digit is less than ten.
            *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
            number /= 10;
            if number == 0 {
                break;
            }
        }
        Self { digits, start }
    }

    pub(super) fn as_str(&self) -> &str {
        self.digits.get(self.start..).and_then(|digits| std::str::from_utf8(digits).ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_written_in_its_digits() {
        for number in [0, 7, 10, 99, 100, 12_345, usize::MAX] {
            assert_eq!(Index::new(number).as_str(), number.to_string());
        }
    }
}
