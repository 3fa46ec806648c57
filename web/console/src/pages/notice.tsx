import { Button } from "@gatehouse/web-kit/button.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatRelative } from "@gatehouse/web-kit/formats.ts";
import { Badge, Facts, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { tell } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";
import { Allowed } from "../records/allowed.tsx";
import { PRODUCT } from "../product.ts";
import { bodySchema } from "../records/api-schema.ts";
import { RecordForm } from "../records/record-form.tsx";
import { type ApiRecord, askRecords, documentQuery } from "../records/records-client.ts";

const PATH = "/v1/admin/notice-config";
const SOURCES = { default: "the gateway's own", tenant: "of this tenant", system: "of one AI system" } as const;

/** A save replaces all of it: what the form does not begin with would be gone. */
function standing({ enabled, surface, texts, exemption }: AdminApiSchemas["NoticeConfig"]): ApiRecord {
  return { enabled, surface, texts, ...(exemption === null ? {} : { exemption }) };
}

/** What people are told before they speak with an AI, and what proves that they were. */
export function NoticePage(): ReactNode {
  const queries = useQueryClient();
  const api = useQuery(documentQuery);
  const read = useQuery({ queryKey: ["notice"], queryFn: () => adminApi.call("GET /v1/admin/notice-config") });
  const done = async (text: string) => {
    await queries.invalidateQueries({ queryKey: ["notice"] });
    tell(text);
  };
  const change = useMutation({
    mutationFn: (body: ApiRecord) => askRecords("PUT", PATH, body),
    onSuccess: () => done("Saved. The next conversation shows it."),
  });
  const reset = useMutation({
    mutationFn: () => adminApi.call("DELETE /v1/admin/notice-config"),
    onSuccess: () => done("The gateway's own notice is shown again."),
  });
  const schema = api.isSuccess ? bodySchema(api.data, "PUT", PATH) : null;
  return (
    <PageFrame
      product={PRODUCT}
      title="AI notice"
      lead="What the portal shows before the first question of a conversation. Each is sealed as shown, with the digest of its text."
    >
      {(api.isPending || read.isPending) && <Skeleton label="Loading" />}
      {read.isError && <ErrorState error={read.error} title="The notice could not be read" requestLabel="Request" />}
      {read.isSuccess && api.isSuccess && schema !== null && (
        <div className="grid gap-4">
          <Panel
            title="Shown now"
            actions={<Badge tone={read.data.enabled ? "good" : "warn"}>{read.data.enabled ? "shown" : "not shown"}</Badge>}
          >
            <Facts
              items={[
                ["Whose", SOURCES[read.data.source]],
                ["Where", read.data.surface],
                ...(read.data.updated_at === null ? [] : [["Changed", formatRelative(read.data.updated_at)] as const]),
                ...Object.entries(read.data.texts).map(
                  ([language, text]) =>
                    [
                      language,
                      <span key={language} lang={language}>
                        {text}
                      </span>,
                    ] as const,
                ),
              ]}
            />
          </Panel>
          <Allowed operation="PUT /v1/admin/notice-config">
            <Panel title="Change it">
              <RecordForm
                key={read.data.updated_at ?? ""}
                document={api.data}
                schema={schema}
                references={{ ai_system_id: "resource-groups" }}
                initial={read.data.source === "tenant" ? standing(read.data) : {}}
                submitLabel="Save"
                busy={change.isPending}
                error={change.error}
                onSubmit={(body) => change.mutate(body)}
                asksToLeave
              />
            </Panel>
          </Allowed>
          {read.data.source === "tenant" && (
            <Allowed operation="DELETE /v1/admin/notice-config">
              <div>
                <FormError error={reset.error} />
                <Button busy={reset.isPending} onClick={() => reset.mutate()}>
                  Show the gateway&apos;s own again
                </Button>
              </div>
            </Allowed>
          )}
        </div>
      )}
    </PageFrame>
  );
}
