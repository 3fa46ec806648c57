import { CONTRACT_SCHEMA, contractDocument } from "@gatehouse/contracts/ai-contracts";
import { z } from "zod";
import { notFound } from "../writes/records.ts";

/** The documents that leave the gateway and are read by others, each with its schema. */
const PUBLISHED = { contract: { title: "Contract of an AI System", schema: CONTRACT_SCHEMA, document: contractDocument } } as const;

export function readStandards() {
  return {
    standards: Object.entries(PUBLISHED).map(([slug, { title, schema }]) => ({
      slug,
      title,
      schema,
      schema_path: `/v1/admin/standards/${slug}/schema`,
    })),
  };
}

/** JSON Schema, draft 2020-12. Throws a `not_found` refusal. */
export function standardSchema(slug: string): Record<string, unknown> {
  if (!Object.hasOwn(PUBLISHED, slug)) throw notFound("published schema");
  const { title, document } = PUBLISHED[slug as keyof typeof PUBLISHED];
  return { ...z.toJSONSchema(document, { target: "draft-2020-12" }), title };
}
