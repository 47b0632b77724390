use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The head and the body of an answer.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The head, with its last empty line.
    pub head: String,
    /// The body; of a stream what came so far, with the frames of its chunks.
    pub body: Vec<u8>,
}

impl Answer {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A connection that is kept open, for one request after the other. It does as little as a client can.
#[derive(Debug)]
pub struct Line {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// The end of a body that comes in chunks.
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

impl Line {
    /// Connects.
    pub async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(4096) })
    }

    /// Sends one request, and reads its whole answer.
    pub async fn call(&mut self, request: &[u8]) -> io::Result<Answer> {
        let mut answer = self.begin(request).await?;
        let length = answer.header("content-length").and_then(|length| length.parse::<usize>().ok());
        loop {
            let over = match length {
                Some(length) => answer.body.len() >= length,
                None => answer.body.ends_with(LAST_CHUNK),
            };
            if over {
                return Ok(answer);
            }
            self.more(&mut answer).await?;
        }
    }

    /// Sends one request, and reads the head of its answer.
    pub async fn begin(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        loop {
            self.read().await?;
            if let Some(end) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&self.buffer[..end + 4]).into_owned();
                let status = head.get(9..12).and_then(|status| status.parse().ok()).unwrap_or_default();
                return Ok(Answer { status, head, body: self.buffer[end + 4..].to_vec() });
            }
        }
    }

    /// Reads what else comes of a body.
    pub async fn more(&mut self, answer: &mut Answer) -> io::Result<()> {
        self.buffer.clear();
        self.read().await?;
        answer.body.extend_from_slice(&self.buffer);
        Ok(())
    }

    /// Reads a body on until it contains `text`.
    pub async fn until(&mut self, answer: &mut Answer, text: &str) -> io::Result<()> {
        while !answer.body.windows(text.len()).any(|part| part == text.as_bytes()) {
            self.more(answer).await?;
        }
        // What waits for long must not hold memory here.
        self.buffer = Vec::new();
        Ok(())
    }

    async fn read(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}
