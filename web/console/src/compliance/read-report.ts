import { adminApi } from "../admin-client.ts";

export const TITLES = {
  soc2: "SOC 2",
  eu_ai_act: "EU AI Act",
  hipaa: "HIPAA",
  gdpr_art_30: "GDPR, article 30",
  iso_42001: "ISO/IEC 42001",
} as const;
export type ReportedFramework = keyof typeof TITLES;
export const REPORTED_FRAMEWORKS = Object.keys(TITLES) as ReportedFramework[];

const reportOf = (framework: ReportedFramework) => {
  switch (framework) {
    case "soc2":
      return adminApi.call("GET /v1/admin/compliance/soc2/control-coverage");
    case "eu_ai_act":
      return adminApi.call("GET /v1/admin/compliance/eu-ai-act/risk-classification");
    case "hipaa":
      return adminApi.call("GET /v1/admin/compliance/hipaa/phi-access");
    case "gdpr_art_30":
      return adminApi.call("GET /v1/admin/compliance/gdpr/article-30");
    case "iso_42001":
      return adminApi.call("GET /v1/admin/compliance/iso-42001/activity");
  }
};
export type ShownReport = Awaited<ReturnType<typeof reportOf>>;

/** Reads the sealed report with this ID, or the report of the last 30 days if `sealed` is null. */
export async function readReport(framework: ReportedFramework, sealed: string | null): Promise<ShownReport> {
  if (sealed === null) return reportOf(framework);
  return (await adminApi.call("GET /v1/admin/compliance/reports/{id}", { path: { id: sealed } })).report;
}
