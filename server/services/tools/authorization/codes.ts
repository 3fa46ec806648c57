import type { AuthorizationParts } from "./authorization-parts.ts";
import type { Broker } from "./broker.ts";
import { openEnvelope, sealEnvelope } from "../../../road/admission/envelope.ts";
import type { Flow, RequestedAuthorization } from "./flow.ts";

/**
 * A code issued by the gateway: the issuer's code, sealed together with who may redeem it. It can be used once, because the issuer's code
 * can, and only the gateway can redeem that.
 */
export interface BridgedCode extends Pick<Flow, "proven" | "verifier" | "clientId" | "scopes"> {
  readonly wanted: Pick<Extract<RequestedAuthorization, { kind: "client" }>, "clientHash" | "redirectUri" | "challenge">;
  readonly code: string;
}

const CODE_MS = 120_000;

type Parts = Pick<AuthorizationParts, "secrets" | "clock">;

export function sealCode(
  { secrets, clock }: Parts,
  { owner }: Pick<Broker, "owner">,
  { proven, verifier, clientId, scopes, code, wanted }: BridgedCode,
): string {
  const { clientHash, redirectUri, challenge } = wanted;
  const value = { proven, verifier, clientId, scopes, code, wanted: { clientHash, redirectUri, challenge } };
  return sealEnvelope(secrets, "code", owner, value, clock.now() + CODE_MS);
}

export function openCode({ secrets, clock }: Parts, { owner }: Pick<Broker, "owner">, text: string): BridgedCode | null {
  return openEnvelope<BridgedCode>(secrets, "code", owner, text, clock.now());
}
