import { createHmac } from "node:crypto";
import type { WebhookMessage } from "../../directory/webhooks/webhook-messages.ts";

/** Most characters of a text in a chat. */
const MAX_TEXT = 3_000;

export interface WebhookBody {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What is sent of a message: as Standard Webhooks 1.0 says, or as the incoming webhooks of chats take it. */
export function webhookBody(message: WebhookMessage, signingSecret: string | null, nowMs: number): WebhookBody {
  if (message.format === "slack") return { body: JSON.stringify({ text: textOf(message) }), headers: {} };
  const { id, event, createdAt, data, tenantId } = message;
  const body = JSON.stringify({ type: event, timestamp: createdAt.toISOString(), data: { tenant_id: tenantId, ...data } });
  const timestamp = String(Math.floor(nowMs / 1000));
  const headers = { "webhook-id": id, "webhook-timestamp": timestamp };
  if (signingSecret === null) return { body, headers };
  const key = Buffer.from(signingSecret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { body, headers: { ...headers, "webhook-signature": `v1,${signature}` } };
}

function textOf({ event, data, tenantId }: WebhookMessage): string {
  const said = (name: string) => escaped(String(data[name] ?? ""));
  switch (event) {
    case "alert.raised":
      return cut(`*${said("title")}* (${said("severity")}, ${escaped(tenantId)})\n${said("message")}`);
    case "approval.requested":
      return cut(
        `*Approval requested* (${escaped(tenantId)})\n${said("capability_type")} ${said("capability_name")} of ${said("server_name")}, ` +
          `until ${said("expires_at")}`,
      );
    case "drift_finding.opened":
      return cut(`*${said("title")}* (${said("severity")}, ${escaped(tenantId)})\n${said("kind")}: ${said("subject")}`);
    default:
      return `Gatehouse can reach this channel through the webhook ${said("name")} (${escaped(tenantId)}).`;
  }
}

/** Between characters that mean something only together. */
const UNSEEN = "\u200b";

/** Names come from tool servers and callers: none may become a link, a mention of everybody, or other markup, in any of the chats. */
function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(/[*_~`]/g, `${UNSEEN}$&`)
    .replaceAll(/[@\]]|:(?=\/\/)|(?<=\w)\.(?=[a-z]{2})/gi, `$&${UNSEEN}`);
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}\u2026`;
}
