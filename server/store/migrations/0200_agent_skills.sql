-- Skills: folders of instructions, files and scripts that agents load when they need them.

-- The id is `skill-` and a ULID. The description is that of the published version.
CREATE TABLE agent_skills (
  id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  name text NOT NULL,
  description text NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  allow_local_export boolean NOT NULL DEFAULT false,
  approval_required_scripts text[] NOT NULL DEFAULT '{}',
  published_version bigint,
  execution_count bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, name)
);

-- What was imported, never changed again. The digest is that of all files with their paths: a skill has a version of the same
-- files once.
CREATE TABLE agent_skill_versions (
  skill_id text NOT NULL REFERENCES agent_skills ON DELETE CASCADE,
  version bigint NOT NULL,
  digest text NOT NULL,
  description text NOT NULL,
  frontmatter jsonb NOT NULL,
  warnings text[] NOT NULL,
  file_count bigint NOT NULL,
  size_bytes bigint NOT NULL,
  published_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (skill_id, version),
  UNIQUE (skill_id, digest)
);

CREATE TABLE agent_skill_files (
  skill_id text NOT NULL,
  version bigint NOT NULL,
  path text NOT NULL,
  digest text NOT NULL,
  executable boolean NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (skill_id, version, path),
  FOREIGN KEY (skill_id, version) REFERENCES agent_skill_versions ON DELETE CASCADE
);

-- Who may use a skill: the group, and those below that inherit from it.
CREATE TABLE resource_group_agent_skills (
  group_id uuid NOT NULL REFERENCES resource_groups ON DELETE CASCADE,
  skill_id text NOT NULL REFERENCES agent_skills ON DELETE CASCADE,
  tenant_id text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (group_id, skill_id)
);
CREATE INDEX resource_group_agent_skills_skill ON resource_group_agent_skills (skill_id);
CREATE INDEX resource_group_agent_skills_tenant ON resource_group_agent_skills (tenant_id);
