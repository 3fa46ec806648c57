import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { PROVIDERS } from "../../support/vendors/matrix.ts";
import { startSdkWorld, type SdkWorld } from "../../support/vendors/sdk-world.ts";

/** Each vendor's client lists the models it may use at its own vendor's path; two vendors share one. */
let world: SdkWorld;

beforeAll(async () => {
  world = await startSdkWorld();
});

afterAll(() => world.end());

const expected = PROVIDERS.map(({ id }) => `sdk-${id}`);

describe("the models a key may use", () => {
  test("are listed and retrieved by the openai client", async () => {
    const { models } = world.clients.openai;
    const names = (await Array.fromAsync(await models.list())).map(({ id }) => id);
    expect(names).toEqual(expect.arrayContaining(expected));
    expect(await models.retrieve("sdk-gemini")).toMatchObject({ id: "sdk-gemini", object: "model" });
  });

  test.each(["anthropicOne", "anthropicZero"] as const)("are listed and retrieved by the client %s", async (client) => {
    const { models } = world.clients[client] as Anthropic;
    const listed = await Array.fromAsync(await models.list());
    expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining(expected));
    const shown = await models.retrieve("sdk-gemini");
    expect(shown).toMatchObject({ type: "model", id: "sdk-gemini", display_name: "sdk-gemini", lifecycle: "active" });
    expect(Date.parse(shown.created_at)).toBeGreaterThan(0);
    expect(listed).toContainEqual(shown);
  });

  test("are listed and retrieved by the google client", async () => {
    const { models } = world.clients.google;
    const listed = await Array.fromAsync(await models.list());
    expect(listed.map(({ name }) => name)).toEqual(expect.arrayContaining(expected.map((name) => `models/${name}`)));
    expect(await models.get({ model: "sdk-anthropic" })).toMatchObject({ name: "models/sdk-anthropic" });
  });

  test("have their supported actions in the google client", async () => {
    await world.admin.post("/v1/admin/llms", {
      ...{ tenant_id: "default", name: "sdk-painter", provider: "fake-gemini", model_name: "gemini-3-image", modes: ["image"] },
      group_ids: [world.groupId],
    });
    const { models } = world.clients.google;
    const asked = await Promise.all(
      ["sdk-openai-responses", "sdk-gemini-embed", "sdk-painter"].map(async (model) => (await models.get({ model })).supportedActions),
    );
    expect(asked).toEqual([["generateContent", "streamGenerateContent", "countTokens"], ["embedContent", "batchEmbedContents"], []]);
  });

  test("are the only ones: each client gets its own not-found error for others", async () => {
    const { anthropicOne, google } = world.clients;
    expect(await anthropicOne.models.retrieve("not-there").catch((error: unknown) => error)).toBeInstanceOf(Anthropic.NotFoundError);
    expect(await google.models.get({ model: "not-there" }).catch((error: unknown) => error)).toMatchObject({
      status: 404,
      message: expect.stringContaining("NOT_FOUND"),
    });
    const stranger = world.clientsOf("sk_gw_api_not-a-key");
    expect(await stranger.anthropicOne.models.retrieve("sdk-gemini").catch((error: unknown) => error)).toBeInstanceOf(
      Anthropic.AuthenticationError,
    );
  });
});
