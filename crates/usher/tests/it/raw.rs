//! HTTP as bytes, for what no decent client sends.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

/// All that came on one connection.
#[derive(Debug)]
pub struct Answer {
    /// Of the first response; 0 where the connection was closed without one.
    pub status: u16,
    /// All bytes.
    pub text: String,
}

impl Answer {
    /// How many responses came.
    pub fn count(&self) -> usize {
        self.text.matches("HTTP/1.1 ").count()
    }

    /// The value of a header of the first response.
    pub fn header(&self, name: &str) -> Option<&str> {
        let head = self.text.split("\r\n\r\n").next().unwrap_or_default();
        let lines = head.lines().filter_map(|line| line.split_once(':'));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
    }

    /// The body of the first response, where it is the only one.
    pub fn body(&self) -> &str {
        self.text.split_once("\r\n\r\n").map_or("", |(_, body)| body)
    }
}

/// How long the service may be silent on a connection that it does not close.
const PATIENCE: Duration = Duration::from_secs(2);

/// Sends `bytes` on a connection of their own, and returns all that comes until the service closes it.
pub async fn exchange(origin: &str, bytes: impl Into<Vec<u8>>) -> Answer {
    let (address, bytes) = (address(origin), bytes.into());
    let talk = move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // The service may refuse before it has read everything; what it said counts.
        let _ = stream.write_all(&bytes);
        let (mut all, mut piece) = (Vec::new(), [0; 4096]);
        while let Ok(length @ 1..) = stream.read(&mut piece) {
            all.extend_from_slice(&piece[..length]);
        }
        String::from_utf8_lossy(&all).into_owned()
    };
    let text = tokio::task::spawn_blocking(talk).await.unwrap();
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    Answer { status, text }
}

/// The address behind an origin: `127.0.0.1:8420`.
pub fn address(origin: &str) -> String {
    origin.trim_start_matches("http://").to_owned()
}

/// A request as text: its first line up to the target, then these headers, then `Connection: close` and the body's length.
pub fn request(line: &str, headers: &[(&str, &str)], body: &str) -> String {
    let headers = headers.iter().fold(String::new(), |all, (name, value)| all + name + ": " + value + "\r\n");
    format!("{line} HTTP/1.1\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}
