import { sha256Hex } from "../../kernel/secrets.ts";
import type { Call, Identity } from "../../road/call.ts";
import { modelOf, routeOf } from "../../road/target.ts";

/** The requester and the request that a held answer belongs to. */
export interface HeldAnswerTerms {
  readonly tenantId: string;
  readonly requesterId: string;
  readonly requesterGroupId: string;
  readonly serverId: string;
  readonly argumentsDigest: string;
}

export function heldAnswerTerms(call: Call): HeldAnswerTerms {
  const { tenantId, userId, credentialId } = call.identity as Identity;
  const content = call.requestContentSent ?? call.requestContent ?? "";
  return {
    tenantId,
    requesterId: userId ?? credentialId,
    requesterGroupId: (call.scope as NonNullable<Call["scope"]>).groupId,
    serverId: routeOf(call)?.group?.id ?? modelOf(call)?.id ?? "",
    // Some surfaces put into the URL what others put into the body.
    argumentsDigest: sha256Hex(`${call.path}\n${new URL(call.url, "http://gateway").searchParams.get("alt") ?? ""}\n${sha256Hex(content)}`),
  };
}
