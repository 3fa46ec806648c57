import { parentPort } from "node:worker_threads";
import { SAML, ValidateInResponseTo, type SamlConfig } from "@node-saml/node-saml";
import { ownThread } from "../../kernel/scheduling/thread-time.ts";
import { checkAssertion, checkResponse } from "./saml-checks.ts";
import type { SamlAssertion, SamlJob, SamlJobDone, SamlProvider } from "./saml-client.ts";

const SKEW_MS = 60_000;
const MAX_ASSERTION_AGE_MS = 600_000;

function samlFor(provider: SamlProvider, requestId: string | null): SAML {
  const config: SamlConfig = {
    issuer: provider.entityId,
    callbackUrl: provider.acs,
    entryPoint: provider.ssoUrl,
    audience: provider.entityId,
    idpIssuer: provider.providerEntityId,
    idpCert: [...provider.certificates],
    wantAssertionsSigned: true,
    wantAuthnResponseSigned: provider.responseSigned,
    acceptedClockSkewMs: SKEW_MS,
    maxAssertionAgeMs: MAX_ASSERTION_AGE_MS,
    identifierFormat: null,
    disableRequestedAuthnContext: true,
    validateInResponseTo: requestId === null ? ValidateInResponseTo.never : ValidateInResponseTo.always,
    // Only the ID of this sign-in's request is accepted in `InResponseTo`.
    cacheProvider: {
      saveAsync: async (key, value) => ({ value, createdAt: Date.now(), key }),
      getAsync: async (key) => (key === requestId ? new Date().toISOString() : null),
      removeAsync: async (key) => key,
    },
    ...(requestId === null ? {} : { generateUniqueId: () => requestId }),
  };
  return new SAML(config);
}

async function finish({ provider, answer, requestId, now }: Extract<SamlJob, { kind: "finish" }>): Promise<SamlAssertion> {
  checkResponse(Buffer.from(answer, "base64").toString("utf8"), provider);
  const { profile } = await samlFor(provider, requestId).validatePostResponseAsync({ SAMLResponse: answer });
  const xml = profile?.getAssertionXml?.();
  if (profile === null || xml === undefined) throw new Error("nobody was signed in");
  const proved = checkAssertion(xml, provider, { requestId, now, skewMs: SKEW_MS });
  const attributes = (profile.attributes ?? {}) as Record<string, unknown>;
  return { ...proved, claims: { ...attributes, nameID: profile.nameID, nameIDFormat: profile.nameIDFormat } };
}

async function work(job: SamlJob): Promise<unknown> {
  switch (job.kind) {
    case "begin":
      return samlFor(job.provider, job.requestId).getAuthorizeUrlAsync(job.relayState, undefined, {});
    case "finish":
      return finish(job);
    case "metadata":
      return samlFor(job.provider, null).generateServiceProviderMetadata(null, null);
  }
}

const thread = ownThread();

parentPort?.on("message", (job: SamlJob) => {
  work(job).then(
    (result) => parentPort?.postMessage({ result, thread } satisfies SamlJobDone, []),
    (error: unknown) =>
      parentPort?.postMessage({ error: error instanceof Error ? error.message : String(error), thread } satisfies SamlJobDone, []),
  );
});
