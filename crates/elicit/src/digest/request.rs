use super::canonical::Value;
use super::cursor::Cursor;
use super::members::Members;
use super::stream::Stream;
use super::{Digest, DigestError};
use crate::json;

/// The digest of what a request asks for (R-MRTR-02): name and arguments of `tools/call` and
/// `prompts/get`, the URI of `resources/read`. A retry has the same digest as its first request,
/// whatever else changed; absent arguments are `{}`.
///
/// It is made before anything in the text is known to be honest, so it costs little: time in
/// proportion to the text, and memory for the members of its objects only, at most a few times the
/// text, or half a mebibyte for a short one.
pub fn request_digest(method: &str, params_raw: Option<&str>) -> Result<Digest, DigestError> {
    let params = params_raw.unwrap_or("{}");
    let mut stream = Stream::new("elicit request 2\0");
    stream.write_text(method.as_bytes());
    match method {
        "tools/call" | "prompts/get" => {
            let [name, arguments] = parameters(params, ["name", "arguments"])?;
            name.ok_or(DigestError::MissingParameter("name"))?.write(&mut stream)?;
            arguments.map_or_else(|| Value::at("{}", 0), Ok)?.write(&mut stream)?;
        }
        "resources/read" => {
            let [uri] = parameters(params, ["uri"])?;
            uri.ok_or(DigestError::MissingParameter("uri"))?.write(&mut stream)?;
        }
        _ => return Err(DigestError::Method),
    }
    Ok(stream.finish())
}

/// The parameters with these names. The others may be as deep as they like.
fn parameters<'a, const N: usize>(text: &'a str, names: [&str; N]) -> Result<[Option<Value<'a>>; N], DigestError> {
    if !json::is_valid(text) {
        return Err(DigestError::NotJson);
    }
    let mut found = [const { None }; N];
    let mut cursor = Cursor::new(text);
    let mut members = Members::default();
    let mark = members.mark();
    cursor.expect(b'{').map_err(|_| DigestError::ParametersNoObject)?;
    while cursor.peek() != Some(b'}') {
        let key = cursor.text()?;
        let wanted = names.iter().position(|name| name.as_bytes() == &*key);
        members.push(text, key, cursor.at(), 0)?;
        cursor.expect(b':')?;
        cursor.peek();
        match wanted.and_then(|wanted| found.get_mut(wanted)) {
            Some(found) => {
                let value = Value::at(text, cursor.at())?;
                cursor.jump(value.end());
                *found = Some(value);
            }
            None => cursor.pass_value()?,
        }
        cursor.comma(b'}')?;
    }
    members.sort(text, mark)?;
    Ok(found)
}
