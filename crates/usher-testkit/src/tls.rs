//! TLS before a port of this machine, with a certificate authority that exists for one test.

use std::net::SocketAddr;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

/// Takes TLS at a port of its own and passes what is in it to another port. Of the protocol it knows nothing. Dropping it
/// closes every connection.
#[derive(Debug)]
pub struct Front {
    address: SocketAddr,
    authority: String,
    task: AbortHandle,
}

impl Front {
    /// A front before `target`, such as `127.0.0.1:8420`. Its certificate is for `localhost` and `127.0.0.1`.
    pub async fn start(target: impl Into<String>) -> Self {
        Self::named(target, &["localhost", "127.0.0.1"]).await
    }

    /// The same with a certificate for these names and addresses.
    pub async fn named(target: impl Into<String>, names: &[&str]) -> Self {
        let (acceptor, authority) = certified(names);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("the address of a listener");
        let task = tokio::spawn(run(listener, acceptor, target.into())).abort_handle();
        Self { address, authority, task }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `https://localhost:port`.
    pub fn origin(&self) -> String {
        format!("https://localhost:{}", self.address.port())
    }

    /// The certificate of the authority, as PEM: for a client to trust.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// An HTTP client like [`agent`](crate::agent) that trusts this authority and no other.
    pub fn agent(&self) -> reqwest::Client {
        let authority = reqwest::Certificate::from_pem(self.authority.as_bytes()).expect("a certificate");
        let builder = crate::agent::builder().tls_certs_only([authority]);
        builder.build().expect("an HTTP client without options that can fail")
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What takes TLS connections, and the PEM of the authority that vouches for it.
fn certified(names: &[&str]) -> (TlsAcceptor, String) {
    let mut params = CertificateParams::new(Vec::new()).expect("no name that could be wrong");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority =
        CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a new key")).expect("a certificate");
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let key = KeyPair::generate().expect("a new key");
    let params = CertificateParams::new(names).expect("names of hosts");
    let certificate = params.signed_by(&key, &authority).expect("a certificate");
    let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.expect("versions of the provider").with_no_client_auth();
    let config = config.with_single_cert(vec![certificate.der().clone()], private).expect("a key for its certificate");
    (TlsAcceptor::from(Arc::new(config)), pem(authority.der()))
}

/// RFC 7468.
fn pem(der: &[u8]) -> String {
    let text = crate::base64::encode(der);
    let lines: Vec<_> = text.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
    let lines = lines.join("\n");
    format!("-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n")
}

async fn run(listener: TcpListener, acceptor: TlsAcceptor, target: String) {
    // They end with this future: `JoinSet` aborts what is left when it is dropped.
    let mut connections = JoinSet::new();
    loop {
        let Ok((client, _)) = listener.accept().await else { continue };
        let (acceptor, target) = (acceptor.clone(), target.clone());
        connections.spawn(async move {
            let _ = client.set_nodelay(true);
            let Ok(mut client) = acceptor.accept(client).await else { return };
            let Ok(mut server) = TcpStream::connect(target).await else { return };
            let _ = server.set_nodelay(true);
            let _ = copy_bidirectional(&mut client, &mut server).await;
        });
        while connections.try_join_next().is_some() {}
    }
}
