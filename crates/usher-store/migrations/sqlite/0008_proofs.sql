-- How long the proof that a call was approved is good, and for which round of the server's own questions: '' before the first.
ALTER TABLE interactions ADD COLUMN proof_until BIGINT;
ALTER TABLE interactions ADD COLUMN proof_round TEXT NOT NULL DEFAULT '';
-- The key of the API that the question was asked with; none where a client called through the gateway. Sealed with the row.
ALTER TABLE interactions ADD COLUMN asked_by TEXT;

-- Proofs of before say neither; their calls are asked for anew.
UPDATE interactions SET proof = NULL WHERE proof IS NOT NULL;

CREATE INDEX interactions_proof_ending ON interactions (proof_until) WHERE proof IS NOT NULL;
