-- The keys of servers that ask through the API. Secrets are hashes; `seal` proves that we made the row as it is.
CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    server TEXT NOT NULL,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    -- What it was before the last rotation, and how long that one works still.
    former_hash TEXT,
    former_until BIGINT,
    created_at BIGINT NOT NULL,
    rotated_at BIGINT,
    expires_at BIGINT,
    last_used_at BIGINT,
    seal BLOB NOT NULL,
    -- As in 0002: read out of the sealed value itself.
    key_id TEXT GENERATED ALWAYS AS (
        CASE WHEN length(seal) > 2 THEN CAST(substr(seal, 3, unicode(CAST(substr(seal, 2, 1) AS TEXT))) AS TEXT) END
    ) VIRTUAL
);

CREATE INDEX api_keys_ending ON api_keys (expires_at);
CREATE INDEX api_keys_of_key ON api_keys (key_id, id);
