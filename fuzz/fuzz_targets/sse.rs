#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| elicit_fuzz::service::sse(input));
