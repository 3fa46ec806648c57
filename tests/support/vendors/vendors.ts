import type { ApiFormat } from "@gatehouse/contracts/provider-formats";
import { fakeVendor, type VendorRequest } from "./fake-vendor.ts";
import { answerAnthropic } from "./anthropic.ts";
import { answerBedrock } from "./bedrock.ts";
import { answerGemini } from "./gemini.ts";
import type { Loose } from "./loose.ts";
import { answerOpenai } from "./openai.ts";

type Answer = (path: string, body: Loose, headers: Record<string, string>) => Response;

/** The key of every provider record. Each vendor accepts only this key, where it expects one. */
export const VENDOR_KEY = "vendor-secret-0001";
const bearer = `Bearer ${VENDOR_KEY}`;

interface Vendor {
  readonly answer: Answer;
  readonly key: readonly [header: string, value: string];
  readonly base: string;
}

const VENDORS: Readonly<Partial<Record<ApiFormat, Vendor>>> = {
  openai: { answer: answerOpenai, key: ["authorization", bearer], base: "/v1" },
  azure_openai: { answer: answerOpenai, key: ["api-key", VENDOR_KEY], base: "" },
  anthropic: { answer: answerAnthropic, key: ["x-api-key", VENDOR_KEY], base: "" },
  gemini: { answer: answerGemini, key: ["x-goog-api-key", VENDOR_KEY], base: "" },
  bedrock: { answer: answerBedrock, key: ["authorization", bearer], base: "" },
  vertex: { answer: answerVertex, key: ["authorization", bearer], base: "/v1/projects/fake/locations/global" },
};

/** On Vertex, Claude's model and streaming mode are in the path, and the version is in the body. */
function answerVertex(path: string, body: Loose): Response {
  const [, model, method] = /\/publishers\/anthropic\/models\/([^:]+):(\w+)$/.exec(path) ?? [];
  if (model === undefined) return answerGemini(path, body);
  if (model === "count-tokens") return answerAnthropic("/v1/messages/count_tokens", body, { "anthropic-version": body.anthropic_version });
  return answerAnthropic(
    "/v1/messages",
    { ...body, model, stream: method === "streamRawPredict" },
    { "anthropic-version": body.anthropic_version },
  );
}

export interface RunningVendors {
  /** Base URL for a provider record by api_format; null for formats without a vendor. */
  baseUrl(apiFormat: string): string | null;
  stop(): Promise<void>;
}

export function startVendors(): RunningVendors {
  const running = new Map(
    Object.entries(VENDORS).map(([apiFormat, { answer, key, base }]) => {
      const [header, value] = key;
      const vendor = fakeVendor(({ path, headers, body }: VendorRequest) =>
        headers[header] === value
          ? answer(path, JSON.parse(body) as Loose, headers)
          : Response.json({ error: { message: "The fake vendor got another key." } }, { status: 401 }),
      );
      return [apiFormat, { vendor, baseUrl: `${vendor.origin}${base}` }] as const;
    }),
  );
  return {
    baseUrl: (apiFormat) => running.get(apiFormat)?.baseUrl ?? null,
    async stop() {
      await Promise.all([...running.values()].map(({ vendor }) => vendor.stop()));
    },
  };
}
