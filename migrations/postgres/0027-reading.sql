-- By which rules its documents were read and indexed: those of an older version are read again, behind all other documents.
ALTER TABLE knowledge_manifest ADD COLUMN reading integer NOT NULL DEFAULT 0;
DROP INDEX knowledge_document_index;
CREATE INDEX knowledge_document_index ON knowledge_document (agent_id, updated_at, number) WHERE work IN ('read', 'retitle');
CREATE INDEX knowledge_document_reread ON knowledge_document (agent_id, number) WHERE work = 'reread';
