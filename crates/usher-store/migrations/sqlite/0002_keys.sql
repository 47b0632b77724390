-- Which master key a row needs, read out of the sealed value itself: its second byte is the length of the key's id, which
-- follows. So the column can never say anything else than the value.
ALTER TABLE credentials ADD COLUMN key_id TEXT GENERATED ALWAYS AS (
    CASE WHEN length(sealed) > 2 THEN CAST(substr(sealed, 3, unicode(CAST(substr(sealed, 2, 1) AS TEXT))) AS TEXT) END
) VIRTUAL;
ALTER TABLE mcp_sessions ADD COLUMN key_id TEXT GENERATED ALWAYS AS (
    CASE WHEN length(sealed) > 2 THEN CAST(substr(sealed, 3, unicode(CAST(substr(sealed, 2, 1) AS TEXT))) AS TEXT) END
) VIRTUAL;
ALTER TABLE browser_sessions ADD COLUMN key_id TEXT GENERATED ALWAYS AS (
    CASE WHEN length(seal) > 2 THEN CAST(substr(seal, 3, unicode(CAST(substr(seal, 2, 1) AS TEXT))) AS TEXT) END
) VIRTUAL;

CREATE INDEX credentials_of_key ON credentials (key_id, id);
CREATE INDEX mcp_sessions_of_key ON mcp_sessions (key_id, session_key);
CREATE INDEX browser_sessions_of_key ON browser_sessions (key_id, token_hash);

-- Wrapped with the key itself: tells another key under the same id.
ALTER TABLE key_ids ADD COLUMN proof BLOB;
