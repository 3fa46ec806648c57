-- Routing groups' virtual models bound to resource groups. A binding shows the virtual model in the group; access stays
-- that of the members, each granted on its own.

CREATE TABLE resource_group_virtual_models (
  group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  model_id uuid NOT NULL REFERENCES routing_groups (model_id) ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  portal_visible boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (group_id, model_id)
);
CREATE INDEX resource_group_virtual_models_model ON resource_group_virtual_models (model_id);
