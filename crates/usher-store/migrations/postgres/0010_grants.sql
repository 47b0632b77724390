-- An interaction whose code is being exchanged at the provider is an open one.
DROP INDEX interactions_open;
DROP INDEX interactions_waiting;
DROP INDEX interactions_ending;
CREATE UNIQUE INDEX interactions_open ON interactions (ask_key)
    WHERE state IN ('created', 'opened', 'consented', 'exchanging');
CREATE INDEX interactions_waiting ON interactions (user_key)
    WHERE state IN ('created', 'opened', 'consented', 'exchanging');
CREATE INDEX interactions_ending ON interactions (expires_at)
    WHERE state IN ('created', 'opened', 'consented', 'exchanging', 'failed');

-- The way to a provider and back, for one browser and once: the hash of what it comes back with, what we need then (sealed),
-- and until when it may come.
ALTER TABLE interactions ADD COLUMN flow_hash TEXT;
ALTER TABLE interactions ADD COLUMN flow BYTEA;
ALTER TABLE interactions ADD COLUMN flow_until BIGINT;

CREATE INDEX interactions_flow_ending ON interactions (flow_until) WHERE flow IS NOT NULL;

-- When a grant is to be refreshed, who does it now and until when nobody else does, and how often it failed in a row.
ALTER TABLE credentials ADD COLUMN refresh_at BIGINT;
ALTER TABLE credentials ADD COLUMN lease_owner TEXT;
ALTER TABLE credentials ADD COLUMN lease_until BIGINT;
ALTER TABLE credentials ADD COLUMN attempts BIGINT NOT NULL DEFAULT 0;

CREATE INDEX credentials_due ON credentials (provider, refresh_at) WHERE refresh_at IS NOT NULL;

-- Our registrations at authorization servers: one an issuer and redirect URI, sealed.
CREATE TABLE oauth_clients (
    client_key TEXT PRIMARY KEY,
    issuer TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    sealed BYTEA NOT NULL,
    -- As in 0002: read out of the sealed value itself.
    key_id TEXT GENERATED ALWAYS AS (
        CASE WHEN octet_length(sealed) > 2
            THEN encode(substring(sealed FROM 3 FOR get_byte(sealed, 1)), 'escape') END
    ) STORED
);

CREATE INDEX oauth_clients_of_key ON oauth_clients (key_id, client_key);
