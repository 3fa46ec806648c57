import { Button } from "@gatehouse/web-kit/button.tsx";
import { CheckboxField, SelectField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { PrintButton } from "@gatehouse/web-kit/print-button.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import { FrameworkOverview } from "../compliance/framework-overview.tsx";
import { ProcessingStatements } from "../compliance/processing-statements.tsx";
import { REPORTED_FRAMEWORKS, type ReportedFramework, readReport, TITLES } from "../compliance/read-report.ts";
import { ReportSheet } from "../compliance/report-sheet.tsx";
import { SealedReports } from "../compliance/sealed-reports.tsx";
import { Allowed } from "../records/allowed.tsx";
import { ChangedByOthers, changeAsRead, changedSince } from "../records/records-client.ts";
import { PRODUCT } from "../product.ts";

function ProfilePanel({ frameworks }: { readonly frameworks: readonly ReportedFramework[] }): ReactNode {
  const queries = useQueryClient();
  const [chosen, setChosen] = useState<readonly ReportedFramework[]>(frameworks);
  const save = useMutation({
    mutationFn: () => changeAsRead("/v1/admin/compliance/profile", { frameworks: chosen }, changedSince({ frameworks }, { frameworks })),
    async onError(error) {
      if (!(error instanceof ChangedByOthers)) return;
      // The newly read settings replace this form and its error, so the error goes into a toast.
      showToast(error.message);
      await queries.invalidateQueries({ queryKey: ["compliance", "profile"] });
    },
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ["compliance"] });
      showToast("Saved. Rows are tagged from the next call on.");
    },
  });
  return (
    <Panel title="Your frameworks">
      <div className="grid gap-2">
        {REPORTED_FRAMEWORKS.map((framework) => (
          <CheckboxField
            key={framework}
            label={TITLES[framework]}
            checked={chosen.includes(framework)}
            onChange={({ currentTarget: { checked } }) =>
              setChosen(REPORTED_FRAMEWORKS.filter((one) => (one === framework ? checked : chosen.includes(one))))
            }
          />
        ))}
        <FormError error={save.error} />
        <Allowed operation="PATCH /v1/admin/compliance/profile">
          <div>
            <Button look="primary" busy={save.isPending} onClick={() => save.mutate()}>
              Save
            </Button>
          </div>
        </Allowed>
      </div>
    </Panel>
  );
}

/** The tenant's compliance frameworks, and the gateway's evidence for each control from the last 30 days. */
export function CompliancePage(): ReactNode {
  const [framework, setFramework] = useState<ReportedFramework>("soc2");
  const [sealed, setSealed] = useState<string | null>(null);
  const profile = useQuery({ queryKey: ["compliance", "profile"], queryFn: () => adminApi.call("GET /v1/admin/compliance/profile") });
  const report = useQuery({ queryKey: ["compliance", "report", framework, sealed], queryFn: () => readReport(framework, sealed) });
  return (
    <PageFrame
      product={PRODUCT}
      title="Compliance"
      lead="Evidence the gateway has for each control, with the rows and entries behind it. This is not a statement of compliance."
    >
      <div className="grid gap-4">
        {profile.isPending && <Skeleton label="Loading" />}
        {profile.isError && <ErrorState error={profile.error} title="The profile could not be read" requestLabel="Request" />}
        {profile.isSuccess && (
          <div data-print="hide">
            <ProfilePanel key={profile.data.frameworks.join(" ")} frameworks={profile.data.frameworks} />
          </div>
        )}
        <div data-print="hide">
          <FrameworkOverview
            onOpen={(of) => {
              setFramework(of);
              setSealed(null);
            }}
          />
        </div>
        <Panel
          title={sealed === null ? "Report of the last 30 days" : "Sealed report"}
          actions={
            <div data-print="hide" className="flex flex-wrap gap-2">
              {sealed !== null && <Button onClick={() => setSealed(null)}>Back to the last 30 days</Button>}
              {report.isSuccess && <PrintButton label="Print the report" />}
            </div>
          }
        >
          <div className="grid gap-4">
            <div data-print="hide">
              <SelectField
                label="Framework"
                value={framework}
                onChange={({ currentTarget: { value } }) => {
                  setFramework(value as ReportedFramework);
                  setSealed(null);
                }}
                choices={REPORTED_FRAMEWORKS.map((value) => ({ value, label: TITLES[value] }))}
              />
            </div>
            {report.isPending && <Skeleton label="Loading" />}
            {report.isError && <ErrorState error={report.error} title="The report could not be made" requestLabel="Request" />}
            {report.isSuccess && <ReportSheet report={report.data} />}
          </div>
        </Panel>
        {framework === "gdpr_art_30" && (
          <div data-print="hide">
            <ProcessingStatements />
          </div>
        )}
        <div data-print="hide">
          <SealedReports
            framework={framework}
            onOpen={({ id, framework: of }) => {
              setFramework(of);
              setSealed(id);
            }}
          />
        </div>
      </div>
    </PageFrame>
  );
}
