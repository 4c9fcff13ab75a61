-- By which rules its documents were read and indexed: those of an older version are read again, behind all other documents.
ALTER TABLE manifest ADD COLUMN reading INTEGER NOT NULL DEFAULT 0;
DROP INDEX document_index;
CREATE INDEX document_index ON document (updated_at, number) WHERE work IN ('read', 'retitle');
CREATE INDEX document_reread ON document (number) WHERE work = 'reread';
