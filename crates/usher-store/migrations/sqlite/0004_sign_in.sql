-- Sign-ins at the issuer that came to their end, so that none comes to it twice. Kept until they would have expired.
CREATE TABLE sign_ins (
    id_hash TEXT PRIMARY KEY,
    expires_at BIGINT NOT NULL
);

CREATE INDEX sign_ins_ending ON sign_ins (expires_at);
