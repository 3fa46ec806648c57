import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CELLS, type Cell, CLIENTS } from "../../support/vendors/matrix.ts";
import { PICTURE_TEXT, STRUCTURED, TEXT, TOOL } from "../../support/vendors/scene.ts";
import { PROMPT, type SdkAnswer } from "../../support/vendors/sdk.ts";
import { startSdkWorld, type SdkWorld } from "../../support/vendors/sdk-world.ts";

/** Every official client, unchanged except for base URL and key, against every provider format. */
let world: SdkWorld;

beforeAll(async () => {
  world = await startSdkWorld();
});

afterAll(() => world.end());

function expectAnswer({ provider, feature }: Cell, { text, tool }: SdkAnswer): void {
  switch (feature) {
    case "text":
      expect({ text, tool }).toEqual({ text: provider === "echo" ? PROMPT : TEXT, tool: null });
      break;
    case "tools":
      expect(tool).toEqual({ name: TOOL.name, arguments: TOOL.arguments });
      break;
    case "structured":
      expect(JSON.parse(text)).toEqual(STRUCTURED);
      break;
    case "picture":
      expect({ text, tool }).toEqual({ text: PICTURE_TEXT, tool: null });
      break;
  }
}

describe.each(CLIENTS.map(({ id }) => id))("%s", (client) => {
  test.each(
    CELLS.filter((cell) => cell.client === client).map(
      (cell) => [cell.provider, cell.feature, cell.stream ? "streamed" : "whole", cell] as const,
    ),
  )("%s: %s, %s", async (_provider, _feature, _form, cell) => {
    expectAnswer(cell, await world.clients.sdks[client].ask(`sdk-${cell.provider}`, cell.feature, cell.stream));
  });
});
