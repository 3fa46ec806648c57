import { generateKeyPairSync } from "node:crypto";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { isoMicros, systemClock, type Clock } from "../kernel/clock.ts";
import { ulid } from "../kernel/ids.ts";
import type { Log, LogFields } from "../kernel/log.ts";
import type { Database } from "../store/database.ts";
import { openLedger, type Ledger, type LedgerOptions } from "./ledger.ts";

/** Test support: ledgers in temporary directories, and rows for them. */

export const SIGNING_KEY = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }) as string;

export interface RecordedLog extends Log {
  readonly events: { event: string; fields: LogFields }[];
}

export function recordedLog(): RecordedLog {
  const events: RecordedLog["events"] = [];
  const note = (event: string, fields: LogFields = {}) => void events.push({ event, fields });
  return { events, debug: note, info: note, warn: note, error: note };
}

export function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), "gatehouse-ledger-"));
}

/** A copy of the directory as a writer killed at this moment would leave it. */
export function copyAsCrashed(directory: string): string {
  const copy = temporaryDirectory();
  cpSync(directory, copy, { recursive: true });
  rmSync(join(copy, "writer.lock"), { force: true });
  return copy;
}

export function testLedger(db: Database, directory: string, options: Partial<LedgerOptions> = {}): Promise<Ledger> {
  return openLedger({
    directory,
    db,
    durability: "strict",
    maxBytes: 64 * 1024 * 1024,
    signingKey: SIGNING_KEY,
    clock: systemClock(),
    log: recordedLog(),
    shipWaitMs: 5,
    ...options,
  });
}

const clock: Clock = systemClock();

/** A row of a model call, with as many fields as real ones. */
export function callRow(fields: AuditRow = {}): AuditRow {
  return {
    id: ulid(),
    tenant_id: "5f0c6f0e-8f2b-4d57-9d7c-0d9b6f0c6f0e",
    timestamp: isoMicros(clock.micros()),
    proxy_type: "llm",
    proxy_subtype: "chat_completions",
    http_method: "POST",
    endpoint: "/v1/llm/chat/completions",
    target_url: "https://api.example.com/v1/chat/completions",
    llm_model_requested: "gpt-x",
    llm_model_used: "gpt-x",
    llm_provider: "example",
    llm_prompt_tokens: 120,
    llm_completion_tokens: 30,
    llm_total_tokens: 150,
    llm_estimated_cost_usd: 0.000375,
    llm_streaming: false,
    llm_function_calling: false,
    api_key_id: "7b1c6f0e-8f2b-4d57-9d7c-0d9b6f0c6f0e",
    api_key_name: "main",
    resource_group_id: "9d2c6f0e-8f2b-4d57-9d7c-0d9b6f0c6f0e",
    client_ip: "10.0.0.7",
    user_agent: "openai-node/6.1.0",
    is_auth_event: false,
    correlation_id: "01JQ3V7Z5K9M2N4P6R8T0W1X2Y",
    request_size_bytes: 900,
    response_size_bytes: 1_400,
    request_headers: { "content-type": "application/json", "user-agent": "openai-node/6.1.0" },
    request_body_preview: `{"messages":[{"role":"user","content":"${"word ".repeat(120)}"}]}`,
    response_body_preview: `{"choices":[{"message":{"content":"${"word ".repeat(160)}"}}]}`,
    request_content_hash: "ab".repeat(32),
    response_content_hash: "cd".repeat(32),
    http_status_code: 200,
    success: true,
    duration_ms: 412,
    guardrail_blocked: false,
    ...fields,
  };
}
