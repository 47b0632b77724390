//! A small MCP server over its standard streams, of both eras, for the tests of processes. Its tools do what servers do when
//! things go well, and when they do not.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a program of the tests fails by panicking")]
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it tells of its own surroundings"
)]

use std::{
    collections::HashMap,
    io::{BufRead as _, Write as _},
    process::Command,
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use serde_json::{Value, json};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// What the threads of the server share.
#[derive(Default)]
struct Server {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Answers of the client to our questions.
    answers: HashMap<u64, Value>,
    questions: u64,
    /// Requests that the client cancelled.
    cancelled: Vec<Value>,
    initialized: bool,
}

fn main() {
    let server = Arc::new(Server::default());
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let message: Value = serde_json::from_str(&line).expect("the gateway writes JSON");
        let (server, asks) = (Arc::clone(&server), message.get("id").is_some());
        if asks {
            std::thread::spawn(move || server.take(&message));
        } else {
            // In the order in which they come.
            server.take(&message);
        }
    }
    if std::env::args().any(|argument| argument == "--stubborn") {
        loop {
            std::thread::park();
        }
    }
}

fn write(message: &Value) {
    let mut stdout = std::io::stdout().lock();
    // A gateway that is gone reads nothing.
    let _ = writeln!(stdout, "{message}").and_then(|()| stdout.flush());
}

fn result(id: &Value, result: &Value) {
    write(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
}

fn notify(method: &str, params: &Value) {
    write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
}

impl Server {
    fn take(&self, message: &Value) {
        let (id, params) = (&message["id"], &message["params"]);
        match message["method"].as_str() {
            Some("initialize") => result(
                id,
                &json!({
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": { "tools": {}, "logging": {} },
                    "serverInfo": { "name": "stdio", "version": "1" },
                }),
            ),
            Some("server/discover") => result(
                id,
                &json!({
                    "resultType": "complete",
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": { "tools": {} },
                    "serverInfo": { "name": "stdio", "version": "1" },
                }),
            ),
            Some("ping") => result(id, &json!({})),
            Some("tools/list") => result(id, &json!({ "resultType": "complete", "tools": [] })),
            Some("tools/call") => self.call(id, params),
            Some("subscriptions/listen") => {
                notify("notifications/subscriptions/acknowledged", &json!({ "_meta": { SUBSCRIPTION: id } }));
                notify("notifications/tools/list_changed", &json!({ "_meta": { SUBSCRIPTION: id } }));
            }
            Some("notifications/cancelled") => self.change(|state| state.cancelled.push(params["requestId"].clone())),
            Some("notifications/initialized") => self.change(|state| state.initialized = true),
            Some(_) if id.is_null() => {}
            Some(method) => write(&json!({
                "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": format!("no method {method}") },
            })),
            None => self.change(|state| {
                state.answers.insert(id.as_u64().expect("an id of ours"), message["result"].clone());
            }),
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
        self.changed.notify_all();
    }

    fn until<T>(&self, look: impl Fn(&State) -> Option<T>) -> T {
        let mut state = self.state.lock().unwrap();
        loop {
            if let Some(found) = look(&state) {
                return found;
            }
            state = self.changed.wait(state).unwrap();
        }
    }

    fn call(&self, id: &Value, params: &Value) {
        let arguments = &params["arguments"];
        let text = match params["name"].as_str().expect("a name") {
            "whoami" => {
                let mut names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
                names.sort();
                let initialized = self.state.lock().unwrap().initialized;
                let directory = std::env::current_dir().unwrap();
                json!({ "pid": std::process::id(), "env": names, "directory": directory, "initialized": initialized })
            }
            "env" => json!(std::env::var(arguments["name"].as_str().unwrap()).ok()),
            "exit" => std::process::exit(i32::try_from(arguments["code"].as_i64().unwrap()).unwrap()),
            "hang" => return,
            "linger" => return notify("notifications/message", &json!({ "level": "info", "data": "begun" })),
            "sleep" => {
                std::thread::sleep(Duration::from_millis(arguments["ms"].as_u64().unwrap()));
                json!("slept")
            }
            "child" => json!(Command::new("sleep").arg("300").spawn().unwrap().id()),
            "chatter" => {
                eprintln!("\u{1b}[31m{}", arguments["text"].as_str().unwrap_or("nothing to say"));
                println!("this is no message");
                json!("said")
            }
            "progress" => {
                let token = &params["_meta"]["progressToken"];
                notify("notifications/progress", &json!({ "progressToken": token, "progress": 1 }));
                notify("notifications/message", &json!({ "level": "info", "data": "half way" }));
                json!("done")
            }
            "flood" => {
                let data = "x".repeat(1024);
                for _ in 0..arguments["count"].as_u64().unwrap() {
                    notify("notifications/message", &json!({ "level": "info", "data": data }));
                }
                json!("flooded")
            }
            "cancelled" => self.until(|state| (!state.cancelled.is_empty()).then(|| json!(state.cancelled.len()))),
            "ask" => self.ask(arguments),
            name => json!(format!("no tool {name}")),
        };
        let content = json!([{ "type": "text", "text": text.to_string() }]);
        result(id, &json!({ "resultType": "complete", "content": content }));
    }

    /// Asks in a form, as a server of the legacy era does.
    fn ask(&self, arguments: &Value) -> Value {
        let question = {
            let mut state = self.state.lock().unwrap();
            state.questions += 1;
            state.questions
        };
        let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
        let params = json!({ "message": arguments["message"], "requestedSchema": schema });
        write(&json!({ "jsonrpc": "2.0", "id": question, "method": "elicitation/create", "params": params }));
        self.until(|state| state.answers.get(&question).cloned())
    }
}
