-- By its id first: with the session first, it looked to the planner as good a way to a message by its place as the primary key, and went
-- through the whole session.
DROP INDEX message_id;
CREATE UNIQUE INDEX message_id ON message (id, session_id, agent_id);
