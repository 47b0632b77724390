-- The call that a question is asked for, sealed, until it is answered or over. For what is approved call by call it is the
-- whole call, as the person sees it.
ALTER TABLE interactions ADD COLUMN operation BLOB;
-- That its user approved this very call, sealed, until the call has used it.
ALTER TABLE interactions ADD COLUMN proof BLOB;
-- Hash of what brings the browser back from somebody else's page, once.
ALTER TABLE interactions ADD COLUMN return_hash TEXT;

CREATE INDEX interactions_proved ON interactions (ask_key) WHERE proof IS NOT NULL;
CREATE INDEX interactions_proved_by ON interactions (user_key) WHERE proof IS NOT NULL;
CREATE INDEX interactions_told ON interactions (expires_at) WHERE operation IS NOT NULL;
