-- Whose a signed-in browser is, for its owner to list. Those from before are filled in at the next start.
ALTER TABLE browser_sessions ADD COLUMN user_key TEXT NOT NULL DEFAULT '';

CREATE INDEX browser_sessions_of_user ON browser_sessions (user_key, last_seen_at);

-- All of a user's questions, whatever became of them: what their clients said of themselves, and what goes with the user.
CREATE INDEX interactions_of_user ON interactions (user_key, client, created_at);
-- Those that a person declined, for as long as they may want to take it back.
CREATE INDEX interactions_declined ON interactions (user_key, state_at) WHERE state = 'declined';

CREATE INDEX credentials_of_provider ON credentials (provider, id);
CREATE INDEX login_links_of_user ON login_links (issuer, subject);
