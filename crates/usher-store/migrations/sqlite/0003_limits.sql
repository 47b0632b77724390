-- Until when a question that was declined is not asked again by itself, and how often it was declined of late.
CREATE TABLE declines (
    ask_key TEXT PRIMARY KEY,
    times BIGINT NOT NULL,
    rests_until BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX declines_ending ON declines (expires_at);

-- Whose a session is. Those from before count for nobody; they end within a day.
ALTER TABLE mcp_sessions ADD COLUMN user_key TEXT NOT NULL DEFAULT '';
ALTER TABLE mcp_sessions ADD COLUMN client_key TEXT NOT NULL DEFAULT '';

CREATE INDEX mcp_sessions_of_user ON mcp_sessions (user_key, expires_at);
CREATE INDEX mcp_sessions_of_client ON mcp_sessions (client_key, expires_at);
