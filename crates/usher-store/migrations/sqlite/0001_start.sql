-- Times are microseconds since 1970. Look-up keys (`…_key`) are SHA-256 as base64url.

CREATE TABLE facts (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- Ids of the master keys that sealed credentials need.
CREATE TABLE key_ids (
    id TEXT PRIMARY KEY
);

CREATE TABLE interactions (
    id TEXT PRIMARY KEY,
    ask_key TEXT NOT NULL,
    user_key TEXT NOT NULL,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    client TEXT NOT NULL,
    client_claim TEXT,
    provider TEXT NOT NULL,
    upstream TEXT NOT NULL,
    target TEXT NOT NULL,
    reason TEXT NOT NULL,
    state TEXT NOT NULL,
    state_at BIGINT NOT NULL,
    failure TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    version BIGINT NOT NULL,
    -- Nothing is in it: it proves that we asked this of this user for this destination.
    seal BLOB NOT NULL
);

-- One open question of a kind. Also what `ask` runs on, whatever the number of rows.
CREATE UNIQUE INDEX interactions_open ON interactions (ask_key)
    WHERE state IN ('created', 'opened', 'consented');
CREATE INDEX interactions_waiting ON interactions (user_key)
    WHERE state IN ('created', 'opened', 'consented');
CREATE INDEX interactions_ending ON interactions (expires_at)
    WHERE state IN ('created', 'opened', 'consented', 'failed');
CREATE INDEX interactions_ended ON interactions (expires_at)
    WHERE state IN ('completed', 'declined', 'expired');

CREATE TABLE credentials (
    id TEXT PRIMARY KEY,
    credential_key TEXT NOT NULL UNIQUE,
    user_key TEXT NOT NULL,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    provider TEXT NOT NULL,
    version BIGINT NOT NULL,
    status TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    last_used_at BIGINT,
    sealed BLOB NOT NULL
);

CREATE INDEX credentials_of_user ON credentials (user_key);

CREATE TABLE mcp_sessions (
    session_key TEXT PRIMARY KEY,
    upstream TEXT NOT NULL,
    -- The upstream's id of the session, or that there is none; also proves whose session it is.
    sealed BLOB NOT NULL,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    client TEXT NOT NULL,
    client_claim TEXT,
    revision TEXT NOT NULL,
    capabilities TEXT NOT NULL,
    initialize_params TEXT NOT NULL,
    begun BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX mcp_sessions_ending ON mcp_sessions (expires_at);

CREATE TABLE notices (
    interaction_id TEXT NOT NULL,
    session_key TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (interaction_id, session_key)
);

CREATE INDEX notices_of_session ON notices (session_key);
CREATE INDEX notices_ending ON notices (expires_at);

-- Of links and cookies only the hash is kept. The seal proves that we signed this user in.
CREATE TABLE login_links (
    token_hash TEXT PRIMARY KEY,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    seal BLOB NOT NULL
);

CREATE INDEX login_links_ending ON login_links (expires_at);

CREATE TABLE browser_sessions (
    token_hash TEXT PRIMARY KEY,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    seal BLOB NOT NULL
);

CREATE INDEX browser_sessions_ending ON browser_sessions (expires_at);
CREATE INDEX browser_sessions_idle ON browser_sessions (last_seen_at);

CREATE TABLE audit (
    number INTEGER PRIMARY KEY,
    at BIGINT NOT NULL,
    action TEXT NOT NULL,
    outcome TEXT NOT NULL,
    user_key TEXT,
    issuer TEXT,
    subject TEXT,
    client TEXT,
    upstream TEXT,
    provider TEXT,
    interaction_id TEXT,
    detail TEXT
);

CREATE INDEX audit_of_user ON audit (user_key, number);
CREATE INDEX audit_ending ON audit (at);
