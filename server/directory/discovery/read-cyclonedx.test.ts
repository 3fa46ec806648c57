import { expect, test } from "bun:test";
import { InvalidInventory } from "./inventory-item.ts";
import { readCyclonedx } from "./read-cyclonedx.ts";

const NO_TEXT = { toString: 1 };
const bom = (more: object) => ({ bomFormat: "CycloneDX", specVersion: "1.6", ...more });

test("an entry with an object in place of a text is skipped, and the rest of the CycloneDX file is read", () => {
  const read = readCyclonedx(
    bom({
      services: [
        { name: NO_TEXT, tags: ["mcp", NO_TEXT] },
        { name: "Reports MCP", group: NO_TEXT },
      ],
      components: [{ type: "machine-learning-model", "bom-ref": NO_TEXT }],
    }),
  );
  expect(read.items.map(({ name }) => name)).toEqual(["Reports MCP"]);
  expect(read.skipped).toHaveLength(2);
  expect(() => readCyclonedx(bom({ specVersion: NO_TEXT }))).toThrow(InvalidInventory);
});
