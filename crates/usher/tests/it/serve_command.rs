//! The real `usher` binary as a person runs it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio},
    sync::{Arc, Mutex, mpsc},
};

use tokio::time::Instant;
use usher::serve::DRAIN;
use usher_testkit::{
    DEADLINE,
    client::Modern,
    free_port,
    person::Person,
    upstream::{Gate, Script, Upstream},
    within,
};

use crate::harness::{Folder, USHER};

/// A command of the real binary, with the configuration of this folder.
pub fn usher(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(USHER);
    command.args(arguments).arg("--config").arg(folder.join("usher.toml")).current_dir(folder);
    // No browser of the machine that runs the tests is opened.
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("BROWSER").env_remove("USHER_LOG");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a command that ends by itself.
pub async fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = usher(folder, arguments);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap());
    within(DEADLINE, "the command does not end", output).await.unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn config(folder: &Path, port: u16, upstream: &str, more: &str) {
    let text = format!(
        "public_url = \"http://127.0.0.1:{port}\"\n[listen]\naddress = \"127.0.0.1:{port}\"\n{more}\n\
         [[upstream]]\nname = \"weather\"\nurl = \"{upstream}\"\n"
    );
    std::fs::write(folder.join("usher.toml"), text).unwrap();
}

/// What `usher serve --show-token` prints until it is ready.
pub async fn greeting(stdout: ChildStdout) -> String {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(stdout).lines().map_while(Result::ok);
        lines.for_each(|line| drop(sender.send(line)));
    });
    let read = move || {
        let mut welcome = String::new();
        // The host's configuration comes last; its closing brace stands alone.
        while let Ok(line) = receiver.recv_timeout(DEADLINE) {
            welcome.push_str(&line);
            welcome.push('\n');
            if line == "}" {
                return welcome;
            }
        }
        panic!("no whole greeting: {welcome}");
    };
    tokio::task::spawn_blocking(read).await.unwrap()
}

/// The sign-in link of a greeting.
pub fn link_in(greeting: &str) -> String {
    let mut words = greeting.split_whitespace();
    words.find(|word| word.contains("/login?token=")).unwrap().to_owned()
}

/// A running `usher serve`; ended with the test.
pub struct Service {
    child: Child,
    pub folder: Folder,
    origin: String,
    /// What it printed until it was ready.
    welcome: String,
    /// What it logged until now.
    logged: Arc<Mutex<String>>,
    /// Ends with the log.
    log: Option<std::thread::JoinHandle<()>>,
}

impl Service {
    pub async fn start(upstream: &str) -> Self {
        let folder = Folder::new();
        let port = free_port();
        config(folder.path(), port, upstream, "");
        Self::start_in(folder, port).await
    }

    /// The same in a folder that has a configuration with this port.
    async fn start_in(folder: Folder, port: u16) -> Self {
        let mut child = usher(folder.path(), &["serve", "--show-token"]).spawn().unwrap();
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let logged = Arc::new(Mutex::new(String::new()));
        let growing = Arc::clone(&logged);
        // Whoever writes to a full pipe stands still.
        let log = std::thread::spawn(move || {
            let lines = BufReader::new(stderr).lines().map_while(Result::ok);
            lines.for_each(|line| growing.lock().unwrap().extend([line.as_str(), "\n"]));
        });
        let welcome = greeting(stdout).await;
        Self { child, folder, origin: format!("http://127.0.0.1:{port}"), welcome, logged, log: Some(log) }
    }

    fn link(&self) -> String {
        link_in(&self.welcome)
    }

    fn host_config(&self) -> serde_json::Value {
        let start = self.welcome.find("\n{").unwrap();
        serde_json::from_str(&self.welcome[start..]).unwrap()
    }

    /// A client as the printed configuration makes one.
    pub fn client(&self) -> Modern {
        let server = &self.host_config()["mcpServers"]["weather"];
        let authorization = server["headers"]["Authorization"].as_str().unwrap();
        Modern::new(server["url"].as_str().unwrap()).token(authorization.strip_prefix("Bearer ").unwrap())
    }

    /// Sends SIGTERM and waits for the end.
    async fn terminate(&mut self) -> ExitStatus {
        self.signal("TERM");
        let ended = async {
            loop {
                if let Some(status) = self.child.try_wait().unwrap() {
                    return status;
                }
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        };
        within(DRAIN + DEADLINE, "the service does not end", ended).await
    }
}

impl Service {
    /// Ends the service, and gives what it logged.
    async fn log(&mut self) -> String {
        self.terminate().await;
        self.log.take().unwrap().join().unwrap();
        self.logged.lock().unwrap().clone()
    }

    pub fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Waits until this stands in the log, and forgets what came before it.
    pub async fn logs(&self, text: &str) {
        let found = async {
            loop {
                {
                    let mut logged = self.logged.lock().unwrap();
                    if let Some(at) = logged.find(text) {
                        logged.replace_range(..at + text.len(), "");
                        return;
                    }
                }
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        };
        within(DEADLINE, &format!("not in the log: {text}"), found).await;
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// R-SEC-08: what is printed is enough to sign in and to point a host at the service.
#[tokio::test]
async fn the_greeting_signs_in_and_configures_a_host() {
    let upstream = Upstream::start().await;
    let service = Service::start(&upstream.url()).await;
    let person = Person::new(&service.origin).language("en");
    assert_eq!(person.sign_in(&service.link()).await.status, 200);
    assert_eq!(person.get("/").await.status, 200);
    assert_eq!(service.host_config()["mcpServers"]["weather"]["type"], "http");
    assert_eq!(service.client().call("tools/list", "{}").await.status, 200);
    upstream.assert_clean();
}

/// R-SEC-07: where nobody looks on, no token and no link is printed, but where they are.
#[tokio::test]
async fn a_greeting_that_is_no_terminals_tells_no_secret() {
    let folder = Folder::new();
    let port = free_port();
    config(folder.path(), port, "http://127.0.0.1:9/mcp", "");
    let mut child = usher(folder.path(), &["serve"]).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let greeting = tokio::task::spawn_blocking(move || {
        let mut told = String::new();
        for line in lines {
            told.push_str(&line);
            told.push('\n');
            if line.contains("usher login") {
                break;
            }
        }
        told
    });
    let greeting = within(DEADLINE, "no greeting", greeting).await.unwrap();
    let _ = child.kill();
    child.wait().unwrap();
    let path = folder.path().join("usher.tokens");
    let tokens = std::fs::read_to_string(&path).unwrap();
    let token = tokens.split('"').find(|part| part.len() == 43).unwrap();
    assert!(!greeting.contains(token) && !greeting.contains("token="), "{greeting}");
    for said in [&format!("http://127.0.0.1:{port}/mcp/weather"), path.to_str().unwrap(), "usher login", "--show-token"]
    {
        assert!(greeting.contains(said), "{said}: {greeting}");
    }
}

/// R-SEC-07: whatever the service makes is for its owner alone.
#[tokio::test]
async fn every_file_that_is_made_is_for_its_owner_alone() {
    let service = Service::start("http://127.0.0.1:9/mcp").await;
    let mut made = Vec::new();
    for entry in std::fs::read_dir(service.folder.path()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if name != "usher.toml" {
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{name}");
            made.push(name);
        }
    }
    for name in ["usher.control", "usher.db", "usher.keys", "usher.tokens"] {
        assert!(made.iter().any(|made| made == name), "{name} is not among {made:?}");
    }
}

/// SIGTERM is how services are stopped: a clean end, and the control file goes with it.
#[tokio::test]
async fn a_terminated_service_ends_in_good_order() {
    let upstream = Upstream::start().await;
    let mut service = Service::start(&upstream.url()).await;
    let mut listen = service.client().stream("subscriptions/listen", "{}").await;
    listen.expect("notifications/subscriptions/acknowledged").await;
    let status = service.terminate().await;
    assert_eq!(status.code(), Some(0));
    assert!(listen.reply().await.response().result().is_some());
    assert!(!service.folder.path().join("usher.control").exists());
    assert!(service.folder.path().join("usher.tokens").exists());
}

/// R-SEC-04: a call that does not finish is cut, at the upstream too, and so is a request of which only half came.
#[tokio::test]
async fn what_never_ends_is_cut_after_the_time_to_finish() {
    let upstream = Upstream::start().await;
    upstream.tool("endless", Script::new().event(": on its way\n\n").wait(&Gate::new()));
    let mut service = Service::start(&upstream.url()).await;
    let mut half = TcpStream::connect(service.origin.trim_start_matches("http://")).unwrap();
    half.write_all(b"GET /healthz HTTP/1.1\r\nHost: ").unwrap();
    let mut stream = service.client().stream("tools/call", r#"{"name":"endless"}"#).await;
    assert!(stream.next_item().await.is_some());
    let began = Instant::now();
    let status = service.terminate().await;
    assert_eq!(status.code(), Some(0));
    assert!(began.elapsed() >= DRAIN, "cut after {:?}", began.elapsed());
    let reply = stream.reply().await;
    assert!(reply.messages.iter().all(|message| !message.is_response()), "{}", reply.text());
    upstream.wait_left("tools/call").await;
}

/// The design, section 12: all faults at once, with line and remedy, before anything is made or listens.
#[tokio::test]
async fn all_faults_of_a_configuration_are_told_at_once() {
    let folder = Folder::new();
    let port = free_port();
    let text = format!(
        "public_url = \"http://127.0.0.1:{port}\"\ncolour = \"red\"\n[listen]\naddress = \"0.0.0.0:{port}\"\n\
         [[provider]]\nname = \"Weather\"\nkind = \"secret\"\n[[upstream]]\nname = \"weather\"\nurl = \"ftp://a.example\"\n\
         fallback = \"guess\"\n[[upstream.needs]]\nprovider = \"nobody\"\n"
    );
    std::fs::write(folder.path().join("usher.toml"), text).unwrap();
    let output = run(folder.path(), &["serve"]).await;
    let told = text_of_both(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    for (line, word) in [(2, "colour"), (4, "address"), (6, "Weather"), (10, "url"), (11, "fallback"), (13, "nobody")] {
        let found = told.lines().any(|said| said.contains(&format!("usher.toml:{line}:")) && said.contains(word));
        assert!(found, "line {line} ({word}) is not in:\n{told}");
    }
    assert!(told.contains("fix:"), "{told}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["usher.toml"], "nothing was made");
}

pub fn text_of_both(output: &Output) -> String {
    text(&output.stderr) + &text(&output.stdout)
}

/// R-SEC-04: what cannot start says why and what to do.
#[tokio::test]
async fn what_cannot_start_says_what_to_do() {
    let folder = Folder::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    config(folder.path(), port, "http://127.0.0.1:9/mcp", "");
    let output = run(folder.path(), &["serve"]).await;
    let told = text_of_both(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains(&format!("cannot listen on 127.0.0.1:{port}")), "{told}");
    std::fs::remove_file(folder.path().join("usher.toml")).unwrap();
    let output = run(folder.path(), &["serve"]).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(text_of_both(&output).contains("usher.toml"), "{}", text_of_both(&output));
}

/// The design, section 6: with PostgreSQL no replica makes keys of its own.
#[tokio::test]
async fn without_a_key_file_a_shared_store_is_not_opened() {
    let folder = Folder::new();
    let store = "[store]\nurl = \"postgres://nobody:secret-password@127.0.0.1:9/none\"";
    config(folder.path(), free_port(), "http://127.0.0.1:9/mcp", store);
    let output = run(folder.path(), &["serve"]).await;
    let told = text_of_both(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("usher keys init") && told.contains("usher.keys"), "{told}");
    assert!(!told.contains("secret-password"), "{told}");
    assert!(!folder.path().join("usher.keys").exists());
    // The URL of the store is the service's: the command does without.
    config(folder.path(), free_port(), "http://127.0.0.1:9/mcp", "[store]\nurl_env = \"USHER_TEST_NO_SUCH_URL\"");
    let made = run(folder.path(), &["keys", "init"]).await;
    assert_eq!(made.status.code(), Some(0), "{}", text_of_both(&made));
    let mode = std::fs::metadata(folder.path().join("usher.keys")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let again = run(folder.path(), &["keys", "init"]).await;
    assert_eq!(again.status.code(), Some(1), "keys are never overwritten: {}", text_of_both(&again));
}

/// R-SEC-07, R-SEC-08: a link for whoever may read the control file, while the service runs.
#[tokio::test]
async fn login_gives_a_link_while_the_service_runs_and_says_so_when_it_does_not() {
    let mut service = Service::start("http://127.0.0.1:9/mcp").await;
    let folder = service.folder.path().to_owned();
    let output = run(&folder, &["login", "--no-browser"]).await;
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{told}{}", text(&output.stderr));
    let link = told.split_whitespace().find(|word| word.contains("/login?token=")).unwrap();
    let person = Person::new(&service.origin).language("en");
    assert_eq!(person.sign_in(link).await.status, 200);
    assert_eq!(person.get("/").await.status, 200);
    let stranger = Person::new(&service.origin).language("en");
    let used = stranger.sign_in(link).await;
    assert_eq!(used.status, 410, "{}", used.describe());
    service.terminate().await;
    let output = run(&folder, &["login", "--no-browser"]).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("usher serve"), "{}", text(&output.stderr));
    assert!(output.stdout.is_empty());
}

/// R-SEC-08: a killed service leaves a control file behind, which opens nothing.
#[tokio::test]
async fn login_after_a_killed_service_says_that_it_does_not_run() {
    let mut service = Service::start("http://127.0.0.1:9/mcp").await;
    service.child.kill().unwrap();
    service.child.wait().unwrap();
    assert!(service.folder.path().join("usher.control").exists());
    let output = run(service.folder.path(), &["login", "--no-browser"]).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("not running"), "{}", text(&output.stderr));
}

/// A log that nobody asked for tells no secret, whatever is called.
#[tokio::test]
async fn the_log_of_a_start_tells_no_token() {
    let folder = Folder::new();
    config(folder.path(), free_port(), "http://127.0.0.1:9/mcp", "");
    let mut child = usher(folder.path(), &["serve", "--show-token"]).env("USHER_LOG", "trace").spawn().unwrap();
    let (stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let log = std::thread::spawn(move || {
        let mut log = String::new();
        let _ = stderr.read_to_string(&mut log);
        log
    });
    let lines = BufReader::new(stdout).lines().map_while(Result::ok);
    let welcome: String = lines.take_while(|line| line != "}").collect();
    let _ = child.kill();
    child.wait().unwrap();
    let log = log.join().unwrap();
    assert!(log.contains("service started"), "{log}");
    let tokens = std::fs::read_to_string(folder.path().join("usher.tokens")).unwrap();
    let token = tokens.split('"').nth(3).or_else(|| tokens.split('"').nth(1)).unwrap();
    let link = welcome.split_whitespace().find(|word| word.contains("/login?token=")).unwrap();
    for secret in [token, link.split("token=").nth(1).unwrap()] {
        assert!(secret.len() >= 32 && !log.contains(secret), "a token stands in the log");
    }
}

/// A first start tells what it made, and where; a later one has nothing of it to tell.
#[tokio::test]
async fn a_first_start_tells_what_it_made() {
    let mut first = Service::start("http://127.0.0.1:9/mcp").await;
    let log = first.log().await;
    let folder = first.folder.path().to_owned();
    let port = first.origin.rsplit(':').next().unwrap().parse().unwrap();
    let store = format!("new store: {}", folder.join("usher.db").display());
    let made = ["made a key file", "usher.keys", "made a file with the tokens", "usher.tokens", &store];
    for told in made {
        assert!(log.contains(told), "{told} is not in {log}");
    }
    let again = std::mem::replace(&mut first.folder, Folder::new());
    let mut again = Service::start_in(again, port).await;
    let log = again.log().await;
    assert!(log.contains("service started"), "{log}");
    for told in made {
        assert!(!log.contains(told), "{told} is in {log}");
    }
}

/// A second start of the same configuration says that there is nothing to do but to sign in.
#[tokio::test]
async fn a_second_start_says_that_the_service_runs_already() {
    let service = Service::start("http://127.0.0.1:9/mcp").await;
    let control = std::fs::read(service.folder.path().join("usher.control")).unwrap();
    let output = run(service.folder.path(), &["serve"]).await;
    let told = text_of_both(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    let expected = format!("Usher already runs here ({}); to sign in: usher login", service.origin);
    assert!(told.contains(&expected), "{told}");
    assert_eq!(std::fs::read(service.folder.path().join("usher.control")).unwrap(), control);
    let login = run(service.folder.path(), &["login", "--no-browser"]).await;
    assert_eq!(login.status.code(), Some(0), "{}", text_of_both(&login));
}

/// A store that cannot be used is one line with cause, place and remedy, and leaves nothing behind.
#[tokio::test]
async fn a_store_that_cannot_be_used_is_told_in_one_line() {
    let folder = Folder::new();
    config(folder.path(), free_port(), "http://127.0.0.1:9/mcp", "");
    let database = folder.path().join("usher.db");
    std::fs::write(&database, "no database, but a text of some length").unwrap();
    let output = run(folder.path(), &["serve"]).await;
    let told = text_of_both(&output);
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.starts_with(&format!("usher: {} is not a SQLite database; ", database.display())), "{told}");
    assert!(!folder.path().join("usher.keys").exists());

    let port = free_port();
    let store = format!("[store]\nurl = \"postgres://ada:secret-password@127.0.0.1:{port}/none\"\nwait = \"0s\"");
    config(folder.path(), free_port(), "http://127.0.0.1:9/mcp", &store);
    assert_eq!(run(folder.path(), &["keys", "init"]).await.status.code(), Some(0));
    let output = run(folder.path(), &["serve"]).await;
    let told = text_of_both(&output);
    assert_eq!(told.lines().count(), 1, "{told}");
    let expected = format!("usher: cannot connect to PostgreSQL at 127.0.0.1:{port}: connection refused; ");
    assert!(told.starts_with(&expected) && !told.contains("secret-password") && !told.contains("ada"), "{told}");
}

/// An operator reads in the log where the trouble with a server is: its address and the cause, or the status.
#[tokio::test]
async fn trouble_with_a_server_stands_in_the_log() {
    let port = free_port();
    let mut service = Service::start(&format!("http://127.0.0.1:{port}/mcp")).await;
    service.client().call("tools/list", "{}").await;
    let log = service.log().await;
    assert!(log.contains(&format!("127.0.0.1:{port}: connection refused")), "{log}");

    let page = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = page.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = page.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi";
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.read(&mut [0; 4096]);
    });
    let mut service = Service::start(&format!("http://{address}/mcp")).await;
    service.client().call("tools/list", "{}").await;
    let log = service.log().await;
    let line = log.lines().find(|line| line.contains("no MCP")).unwrap_or_else(|| panic!("{log}"));
    assert!(line.contains("WARN") && line.contains(&format!("{address}/mcp")) && line.contains("status=200"), "{line}");
}
