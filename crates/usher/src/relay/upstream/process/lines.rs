//! Lines of a bounded length.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// As it came.
    Whole(Vec<u8>),
    /// Over the limit; passed over to its end.
    TooLong,
    /// There is no more.
    End,
}

/// Reads up to the next line break. What stands behind the last one counts as a line.
pub(super) async fn next_line(reader: &mut (impl AsyncBufRead + Unpin), limit: usize) -> io::Result<Line> {
    let (mut line, mut too_long) = (Vec::new(), false);
    loop {
        let read = reader.fill_buf().await?;
        if read.is_empty() {
            return Ok(match (too_long, line.is_empty()) {
                (true, _) => Line::TooLong,
                (false, true) => Line::End,
                (false, false) => Line::Whole(line),
            });
        }
        let end = memchr::memchr(b'\n', read);
        let piece = &read[..end.unwrap_or(read.len())];
        if too_long || line.len() + piece.len() > limit {
            (line, too_long) = (Vec::new(), true);
        } else {
            line.extend_from_slice(piece);
        }
        let used = end.map_or(read.len(), |end| end + 1);
        reader.consume(used);
        if end.is_some() {
            return Ok(if too_long { Line::TooLong } else { Line::Whole(line) });
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    #[tokio::test]
    async fn lines_are_bounded() {
        for capacity in [1, 3, 64] {
            let mut reader = BufReader::with_capacity(capacity, &b"abc\n\ntoo long\r\nab\rend"[..]);
            let mut lines = Vec::new();
            loop {
                match next_line(&mut reader, 6).await.unwrap() {
                    Line::End => break,
                    line => lines.push(line),
                }
            }
            let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
            assert_eq!(lines, [whole("abc"), whole(""), Line::TooLong, whole("ab\rend")]);
        }
    }
}
