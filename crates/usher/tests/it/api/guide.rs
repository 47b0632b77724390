//! The guide's commands do what the guide says.

use secrecy::ExposeSecret as _;

use super::{Server, stage};

/// The blocks of shell in docs/api.md.
fn blocks() -> Vec<String> {
    let guide = include_str!("../../../../../docs/api.md");
    guide.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Runs each block that asks the API, with the address and the key of this service.
#[tokio::test]
async fn the_commands_of_the_guide_work() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let script: String = blocks().into_iter().filter(|block| block.contains("curl")).collect();
    assert!(script.matches("curl").count() >= 4, "{script}");
    let script = script.replace("https://usher.example.com", &stage.origin).replace("wait=60", "wait=1");
    let mut command = std::process::Command::new("sh");
    command.args(["-euc", &script]).env("USHER_KEY", server.text.expose_secret());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}\n{told}");
    for text in ["\"state\":\"created\"", "\"state\":\"expired\"", "urn:usher:problem:invalid"] {
        assert!(told.contains(text), "no {text} in {told}");
    }
}
