-- Agents whose knowledge base was removed and is still being deleted: it has no row in knowledge_manifest any more, so nobody finds it.
CREATE TABLE knowledge_removal (agent_id TEXT COLLATE "C" PRIMARY KEY);
