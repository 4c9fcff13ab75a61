-- Agents take turns in the deliveries to a webhook.
CREATE INDEX webhook_delivery_in_turn ON webhook_delivery (webhook_id, agent_id, next_at) WHERE state = 'waiting';
