import { Button, buttonClass } from "@gatehouse/web-kit/button.tsx";
import { CopyButton } from "@gatehouse/web-kit/copy-button.tsx";
import { TextAreaField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Badge, Facts, Panel } from "@gatehouse/web-kit/page.tsx";
import { useMutation, useQuery } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import { recordKind } from "../records/record-kinds.ts";
import { useReferenceNames } from "../records/reference-names.ts";
import { WhoSignsIn } from "./who-signs-in.tsx";

const read = (id: string) => adminApi.call("GET /v1/admin/identity-providers/{id}", { path: { id } });
type Provider = Awaited<ReturnType<typeof read>>;

const askPreview = (id: string, claims: Record<string, unknown>) =>
  adminApi.call("POST /v1/admin/identity-providers/{id}/preview", { path: { id }, body: { claims } });
type Preview = Awaited<ReturnType<typeof askPreview>>;

/** Values to enter at the identity provider, a test sign-in, a preview of the claim mapping, and the provider's accounts. */
export function SignOnPanels({ id, mayWrite }: { readonly id: string; readonly mayWrite: boolean }): ReactNode {
  const provider = useQuery({ queryKey: ["records", "sign-on", "typed", id], queryFn: () => read(id) });
  if (provider.data === undefined) return null;
  return (
    <>
      {provider.data.redirect_uri !== null && <AtTheProvider provider={provider.data} />}
      {mayWrite && provider.data.audience !== "api" && <TestSignIn provider={provider.data} />}
      {mayWrite && <MappingPreview key={provider.data.updated_at} provider={provider.data} />}
      {provider.data.audience !== "api" && <WhoSignsIn provider={provider.data} mayUnlink={mayWrite} />}
    </>
  );
}

function AtTheProvider({ provider }: { readonly provider: Provider }): ReactNode {
  // Administrators sign in at this page's origin, people at the portal's.
  const isHere = provider.audience === "admin";
  const redirect = `${isHere ? location.origin : ""}${provider.redirect_uri ?? ""}`;
  const base = redirect.replace(/\/(?:callback|acs)$/, "");
  const addresses =
    provider.kind === "oidc"
      ? [
          ["Redirect URI", redirect],
          ["Back-channel logout address", `${base}/backchannel-logout`],
        ]
      : [
          ["Assertion consumer service", redirect],
          ["Metadata, and our entity id", `${base}/metadata`],
        ];
  return (
    <Panel title="What to enter at the provider">
      {!isHere && <p className="mb-3 text-muted">With the portal's address in front, such as https://portal.example.com.</p>}
      <Facts
        items={addresses.map(([name = "", address = ""]) => [
          name,
          <span key={name} className="flex items-center gap-2">
            <code className="min-w-0 font-mono text-xs break-all">{address}</code>
            <CopyButton text={address} label={`Copy: ${name}`} doneLabel="Copied" />
          </span>,
        ])}
      />
    </Panel>
  );
}

function TestSignIn({ provider }: { readonly provider: Provider }): ReactNode {
  const test = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/identity-providers/{id}/test", { path: { id: provider.id } }),
  });
  const { data } = test;
  return (
    <Panel title="Try a sign-in">
      <div className="grid grid-cols-1 gap-4">
        <p className="text-muted">
          It goes the whole way to the provider and back, shows what came in and what it would become, and signs nobody in.
        </p>
        <FormError error={test.error} />
        <div className="flex flex-wrap gap-2">
          <Button busy={test.isPending} onClick={() => test.mutate()}>
            Prepare a test sign-in
          </Button>
          {data !== undefined && (
            <a href={data.address ?? data.start} target="_blank" rel="noopener" className={buttonClass("primary")}>
              <ExternalLink aria-hidden size={16} />
              Open it in another tab
            </a>
          )}
        </div>
        {data !== undefined && (
          <p role="status" className="text-sm text-muted">
            It can be opened once, within a few minutes.
          </p>
        )}
      </div>
    </Panel>
  );
}

/** Sample claims to start the preview with, as the mapping reads them: dotted names become nested objects. */
function sampleClaims({ kind, oidc, saml, attributes, group_mappings: mappings, required_group: required }: Provider): string {
  const claims: Record<string, unknown> = {};
  const put = (path: string | null, value: unknown) => {
    if (path === null) return;
    const names = path.split(".");
    let at = claims;
    for (const name of names.slice(0, -1)) at = (at[name] ??= {}) as Record<string, unknown>;
    at[names.at(-1) ?? ""] = value;
  };
  put(kind === "oidc" ? (oidc?.subject_claims[0] ?? "sub") : (saml?.subject_attribute ?? "nameID"), "12345");
  put(attributes.username ?? (kind === "oidc" ? "preferred_username" : null), "ada");
  put(attributes.email ?? "email", "ada@example.com");
  put(attributes.display_name ?? (kind === "oidc" ? "name" : null), "Ada Lovelace");
  put(attributes.groups ?? "groups", [...new Set([...mappings.map(({ group }) => group), ...(required === null ? [] : [required])])]);
  return JSON.stringify(claims, null, 2);
}

function MappingPreview({ provider }: { readonly provider: Provider }): ReactNode {
  const [text, setText] = useState(() => sampleClaims(provider));
  const [fault, setFault] = useState<string>();
  const preview = useMutation({ mutationFn: (claims: Record<string, unknown>) => askPreview(provider.id, claims) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    try {
      const claims: unknown = JSON.parse(text);
      if (typeof claims !== "object" || claims === null || Array.isArray(claims)) throw new Error("it is no object");
      setFault(undefined);
      preview.mutate(claims as Record<string, unknown>);
    } catch (error) {
      setFault(`This is not JSON of claims: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  return (
    <Panel title="What claims would become">
      <form onSubmit={submit} className="grid grid-cols-1 gap-4">
        <TextAreaField
          label="Claims, as the provider sends them"
          hint="Paste those of a token, or of an assertion. Nothing is kept, and nobody is signed in."
          error={fault}
          rows={8}
          spellCheck={false}
          className="font-mono text-xs"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <FormError error={preview.error} />
        <div>
          <Button type="submit" busy={preview.isPending}>
            Show what they would become
          </Button>
        </div>
      </form>
      {preview.data !== undefined && (
        <div role="status" className="mt-4 border-t border-line pt-4">
          <PreviewResult result={preview.data} />
        </div>
      )}
    </Panel>
  );
}

function PreviewResult({ result }: { readonly result: Preview }): ReactNode {
  const text = (value: string | null) => value ?? <span className="text-muted">nothing</span>;
  return (
    <div className="grid grid-cols-1 gap-3">
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone={result.allowed ? "good" : "bad"}>{result.allowed ? "would be let in" : "would be refused"}</Badge>
        {result.reason}
      </p>
      <Facts
        items={[
          ["Known by", text(result.subject)],
          ["Username", text(result.username)],
          ["Email", text(result.email)],
          ["Shown as", text(result.display_name)],
          ["Groups they named", text(result.groups.length === 0 ? null : result.groups.join(", "))],
          ["Groups of people", <Named key="people" kind="groups-of-people" ids={result.end_user_group_ids} />],
          ["Role at the console", text(result.role)],
          ["Resource groups", <Named key="groups" kind="resource-groups" ids={result.resource_group_ids} />],
        ]}
      />
    </div>
  );
}

function Named({ kind: slug, ids }: { readonly kind: string; readonly ids: readonly string[] }): ReactNode {
  const kind = recordKind(slug);
  if (kind === undefined || ids.length === 0) return <span className="text-muted">none</span>;
  return <NamesOf kind={kind} ids={ids} />;
}

function NamesOf({ kind, ids }: { readonly kind: NonNullable<ReturnType<typeof recordKind>>; readonly ids: readonly string[] }): ReactNode {
  const nameOf = useReferenceNames(kind, ids);
  return ids.map((id) => nameOf(id) ?? id).join(", ");
}
