import { describe, expect, test } from "bun:test";
import type { Call } from "../road/call.ts";
import type { Surface } from "../road/surface.ts";
import { isRefusal } from "../kernel/errors.ts";
import { geminiModel } from "./gemini/models.ts";
import { modelDetail } from "./llm/models.ts";

const NAME = "accounts/lab/models/llama:8b";
const model = {
  id: "model-1",
  name: NAME,
  modes: ["chat"],
  enabled: true,
  provider: { providerKey: "lab" },
  createdSeconds: 1,
  contextWindow: null,
  maxOutputTokens: null,
};
const scope = {
  granted: new Set(["model-1"]),
  tenant: {
    models: new Map([["model-1", model]]),
    modelsByName: new Map([[NAME, model]]),
    routingGroups: new Map(),
    routingGroupsByModelId: new Map(),
    routingGroupsByName: new Map(),
  },
};

async function asked(surface: Surface, path: string): Promise<unknown> {
  const call = { path, scope } as unknown as Call;
  const exchange = await surface.read(call, null);
  if (isRefusal(exchange)) return exchange.code;
  const answer = await exchange.answer(call);
  if (isRefusal(answer)) return answer.code;
  return answer.kind === "whole" ? JSON.parse(new TextDecoder().decode(answer.body)) : answer.kind;
}

describe.each([
  ["/v1/proxy/llm/models/", modelDetail, { id: NAME }],
  ["/v1beta/models/", geminiModel, { name: `models/${NAME}` }],
] as const)("%s", (prefix, surface, expected) => {
  test("finds a model whose name has slashes and a colon, URL-encoded or not", async () => {
    expect(await asked(surface, prefix + NAME)).toMatchObject(expected);
    expect(await asked(surface, prefix + encodeURIComponent(NAME))).toMatchObject(expected);
  });

  test("reports model_not_found for a name that cannot be decoded", async () => {
    for (const name of ["%ff", "%zz", "a%E0%A4%A"]) expect(await asked(surface, prefix + name)).toBe("model_not_found");
  });
});
