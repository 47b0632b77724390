//! Randomness as a parameter, so that tests can repeat themselves.

/// A source of unpredictable bytes. Whatever is secret here rests on it: one that repeats itself is for tests alone.
pub trait Random: Send + Sync {
    /// Fills `bytes` completely.
    fn fill(&self, bytes: &mut [u8]);
}

/// The generator of aws-lc, seeded by the operating system: the only source for real use.
///
/// Panics where the operating system gives no randomness.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    #[allow(clippy::disallowed_methods, reason = "the one place: everything else takes a Random")]
    fn fill(&self, bytes: &mut [u8]) {
        // Without randomness no secret can be made: going on would be worse than stopping.
        assert!(aws_lc_rs::rand::fill(bytes).is_ok(), "the operating system gives no randomness");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_fills_every_byte_anew() {
        let mut first = [0_u8; 64];
        let mut second = [0_u8; 64];
        SystemRandom.fill(&mut first);
        SystemRandom.fill(&mut second);
        assert_ne!(first, second);
        assert_ne!(&first[56..], &[0; 8]);
    }
}
