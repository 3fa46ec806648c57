import type { Outbound } from "../../runtime/outbound.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { looseListOf, objectOf } from "../../wire/openai/loose-fields.ts";
import { readBedrockCredential, signedHeaders } from "../providers/bedrock/credentials.ts";
import { pathSegment, withoutSlash } from "../providers/send.ts";
import { CLEAR, type Engine, type EngineCheck, failed } from "../../wire/guardrail-engine.ts";
import { post } from "./post.ts";

const REGION = /^[a-z]{2}(?:-[a-z]+)+-\d+$/;

/** Amazon Bedrock Guardrails (ApplyGuardrail). Any intervention counts as a finding, including masking. */
export function bedrockGuardrails(outbound: Outbound, clock: { now(): number }): Engine {
  return {
    longest: 20_000,
    async ask({ endpoint, apiKey, identifier, version }, question) {
      const url = `${withoutSlash(endpoint ?? "")}/guardrail/${pathSegment(identifier ?? "")}/version/${pathSegment(version ?? "DRAFT")}/apply`;
      const body = JSON.stringify({
        source: question.direction === "input" ? "INPUT" : "OUTPUT",
        content: [{ text: { text: question.text } }],
      });
      const headers = await authorization(apiKey, url, body, clock);
      if (headers === null) return failed("the engine's endpoint names no AWS region");
      const posted = await post(outbound, url, headers, body, question);
      if ("verdict" in posted) return posted.verdict;
      const { action, assessments } = posted.body;
      if (action === "NONE") return CLEAR;
      return action === "GUARDRAIL_INTERVENED"
        ? { kind: "found", check: checkOf(looseListOf(assessments).map(objectOf)) }
        : failed("the engine gave no verdict");
    },
  };
}

async function authorization(
  apiKey: string | null,
  url: string,
  body: string,
  clock: { now(): number },
): Promise<Record<string, string> | null> {
  if (apiKey === null) return {};
  const credential = readBedrockCredential(apiKey);
  if (credential.kind === "bearer") return { authorization: `Bearer ${credential.token}` };
  const region = new URL(url).hostname.split(".").find((label) => REGION.test(label));
  return region === undefined ? null : signedHeaders(credential, { url, body, region, now: new Date(clock.now()) });
}

/** Maps the assessments that caused the intervention to one of the gateway's checks. */
function checkOf(assessments: readonly (JsonObject | null)[]): EngineCheck {
  const acted = (list: unknown) => looseListOf(list).some((entry) => (objectOf(entry)?.action ?? "NONE") !== "NONE");
  for (const assessment of assessments) {
    const content = looseListOf(objectOf(assessment?.contentPolicy)?.filters).map(objectOf);
    if (content.some((filter) => filter?.type === "PROMPT_ATTACK" && filter.action !== "NONE")) return "prompt_injection";
    const personal = objectOf(assessment?.sensitiveInformationPolicy);
    if (acted(personal?.piiEntities) || acted(personal?.regexes)) return "pii";
    const words = objectOf(assessment?.wordPolicy);
    if (acted(words?.customWords)) return "banned_words";
  }
  return "toxic_content";
}
