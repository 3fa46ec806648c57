import { Button } from "@gatehouse/web-kit/button.tsx";
import { CheckboxField, SelectField } from "@gatehouse/web-kit/field.tsx";
import { formatDate } from "@gatehouse/web-kit/formats.ts";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Badge, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { PrintButton } from "@gatehouse/web-kit/print-button.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { tell } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import { PRODUCT } from "../product.ts";

const TITLES = {
  soc2: "SOC 2",
  eu_ai_act: "EU AI Act",
  hipaa: "HIPAA",
  gdpr_art_30: "GDPR, article 30",
  iso_42001: "ISO/IEC 42001",
} as const;
type Framework = keyof typeof TITLES;
const FRAMEWORKS = Object.keys(TITLES) as Framework[];

const reportOf = (framework: Framework) => {
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
type Report = Awaited<ReturnType<typeof reportOf>>;
type Item = Report["items"][number];

const TONES = { met: "good", partial: "warn", not_met: "bad", not_applicable: "neutral", no_data: "neutral" } as const;

function Evidence({ evidence: { kind, ref, count } }: { readonly evidence: Item["evidence"][number] }): ReactNode {
  const name = `${count} ${kind.replaceAll("_", " ")}`;
  if (kind === "audit_rows" && ref !== null)
    return (
      <Link to="/audit" search={{ q: ref, row: ref } as never} className="text-accent underline">
        {name}
      </Link>
    );
  if (kind === "admin_log" && ref !== null)
    return (
      <Link to="/admin-log" className="text-accent underline">
        {name}
      </Link>
    );
  return <span>{kind === "retention" ? `${count} days kept` : name}</span>;
}

function Items({ report }: { readonly report: Report }): ReactNode {
  return (
    <ul className="grid gap-4">
      {report.items.map((item) => (
        <li key={item.control} className="grid gap-1 border-t border-line pt-3">
          <div className="flex flex-wrap items-center justify-between gap-2">
            <strong>
              {item.control}: {item.title}
            </strong>
            <Badge tone={TONES[item.status]}>{item.status.replaceAll("_", " ")}</Badge>
          </div>
          <p className="text-muted">{item.reason}</p>
          <p className="flex flex-wrap gap-3 text-sm">
            {item.evidence.map((evidence, index) => (
              <Evidence key={`${evidence.kind} ${index}`} evidence={evidence} />
            ))}
          </p>
        </li>
      ))}
    </ul>
  );
}

function ProfilePanel({ frameworks }: { readonly frameworks: readonly Framework[] }): ReactNode {
  const queries = useQueryClient();
  const [chosen, setChosen] = useState<readonly Framework[]>(frameworks);
  const save = useMutation({
    mutationFn: () => adminApi.call("PATCH /v1/admin/compliance/profile", { body: { frameworks: chosen } }),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ["compliance"] });
      tell("Saved. Rows are tagged so from the next call on.");
    },
  });
  return (
    <Panel title="Frameworks reported under">
      <div className="grid gap-2">
        {FRAMEWORKS.map((framework) => (
          <CheckboxField
            key={framework}
            label={TITLES[framework]}
            checked={chosen.includes(framework)}
            onChange={({ currentTarget: { checked } }) =>
              setChosen(FRAMEWORKS.filter((one) => (one === framework ? checked : chosen.includes(one))))
            }
          />
        ))}
        <FormError error={save.error} />
        <div>
          <Button look="primary" busy={save.isPending} onClick={() => save.mutate()}>
            Save
          </Button>
        </div>
      </div>
    </Panel>
  );
}

/** Which frameworks a tenant reports under, and what the gateway saw of each of their controls in the last 30 days. */
export function CompliancePage(): ReactNode {
  const [framework, setFramework] = useState<Framework>("soc2");
  const profile = useQuery({ queryKey: ["compliance", "profile"], queryFn: () => adminApi.call("GET /v1/admin/compliance/profile") });
  const report = useQuery({ queryKey: ["compliance", "report", framework], queryFn: () => reportOf(framework) });
  return (
    <PageFrame
      product={PRODUCT}
      title="Compliance"
      lead="What the gateway saw of each control, with the rows and entries that show it. It does not say that anybody is compliant."
    >
      <div className="grid gap-4">
        {profile.isPending && <Skeleton label="Loading" />}
        {profile.isError && <ErrorState error={profile.error} title="The profile could not be read" requestLabel="Request" />}
        <div data-print="hide">
          {profile.isSuccess && <ProfilePanel key={profile.data.frameworks.join(" ")} frameworks={profile.data.frameworks} />}
        </div>
        <Panel title="Report of the last 30 days" actions={<PrintButton label="Print the report" />}>
          <div className="grid gap-4">
            <div data-print="hide">
              <SelectField
                label="Framework"
                value={framework}
                onChange={({ currentTarget: { value } }) => setFramework(value as Framework)}
                choices={FRAMEWORKS.map((value) => ({ value, label: TITLES[value] }))}
              />
            </div>
            {report.isPending && <Skeleton label="Loading" />}
            {report.isError && <ErrorState error={report.error} title="The report could not be made" requestLabel="Request" />}
            {report.isSuccess && (
              <>
                <p className="hidden font-semibold print:block">
                  {TITLES[framework]}, {formatDate(report.data.window.from)} to {formatDate(report.data.window.to)}
                </p>
                <p className="text-muted">{report.data.text.cites}</p>
                <Items report={report.data} />
              </>
            )}
          </div>
        </Panel>
      </div>
    </PageFrame>
  );
}
