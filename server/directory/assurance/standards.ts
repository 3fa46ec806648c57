import { CERTIFICATE_TYPE } from "@gatehouse/ledger-format/certificate";
import { assuranceReport, certificateStatement } from "@gatehouse/contracts/ai-assurance";
import { CONTRACT_SCHEMA, contractDocument } from "@gatehouse/contracts/ai-contracts";
import { sealedReportStatement } from "@gatehouse/contracts/compliance";
import { SEALED_REPORT_TYPE } from "@gatehouse/ledger-format/sealed-report";
import { z } from "zod";
import { notFound } from "../writes/records.ts";

/** Documents that leave the gateway for others to read, with their schemas. */
const PUBLISHED = {
  "assurance-report": { title: "Report on an AI System", schema: "ai.gw/assurance-report/v1", document: assuranceReport },
  certificate: { title: "Certificate of an AI System", schema: CERTIFICATE_TYPE, document: certificateStatement },
  "compliance-report": { title: "Sealed compliance report", schema: SEALED_REPORT_TYPE, document: sealedReportStatement },
  contract: { title: "Contract of an AI System", schema: CONTRACT_SCHEMA, document: contractDocument },
} as const;

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
