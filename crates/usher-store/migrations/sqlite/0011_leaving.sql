-- Credentials that are being let go, by when somebody else is to end that: a handful at most.
CREATE INDEX credentials_leaving ON credentials (refresh_at) WHERE status = 'leaving';
