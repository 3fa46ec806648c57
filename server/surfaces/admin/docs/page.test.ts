import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";

/** What the page does with an element, and no more. */
class Element {
  readonly children: (Element | string)[] = [];
  readonly listeners: Record<string, (event: object) => unknown> = {};
  readonly tagName: string;
  value = "";
  open = false;
  hidden = true;
  textContent = "";
  constructor(tagName: string) {
    this.tagName = tagName;
  }
  append(...children: (Element | string)[]): void {
    this.children.push(...children);
  }
  addEventListener(name: string, listener: (event: object) => unknown): void {
    this.listeners[name] = listener;
  }
  setAttribute(): void {}
  querySelector(): null {
    return null;
  }
  all(tagName: string): Element[] {
    const below = this.children.flatMap((child) => (typeof child === "string" ? [] : child.all(tagName)));
    return this.tagName === tagName ? [this, ...below] : below;
  }
}

const DOCUMENT = {
  info: { description: "" },
  tags: [{ name: "t" }],
  components: { schemas: {} },
  paths: { "/v1/x": { get: { tags: ["t"], operationId: "x", summary: "X", "x-access": "anyone", responses: {} } } },
};

/** What the page shows under the form of an operation that was answered with this text. */
async function shownOf(text: string): Promise<string> {
  const elements = new Map<string, Element>();
  const document = {
    getElementById: (id: string) => elements.get(id) ?? elements.set(id, new Element(id)).get(id),
    createElement: (tag: string) => new Element(tag),
  };
  const fetch = async (url: unknown) => (url === "/openapi.json" ? Response.json(DOCUMENT) : new Response(text, { statusText: "OK" }));
  const source = readFileSync(new URL("page.js", import.meta.url), "utf8");
  await new Function("document", "fetch", "location", `return (async () => { ${source} })()`)(document, fetch, {
    origin: "http://gateway.test",
    hash: "",
  });
  const [details] = elements.get("operations")?.all("details") ?? [];
  if (details === undefined) throw new Error("the page drew no operation");
  details.open = true;
  details.listeners.toggle?.({});
  await details.all("form")[0]?.listeners.submit?.({ preventDefault: () => undefined });
  return details.all("pre")[0]?.textContent ?? "";
}

test("an answer is shown with every digit it has", async () => {
  const shown = await shownOf('{"seq":9007199254740993,"budget":0.10000000000000000001,"items":[1,"9007199254740993",null]}');
  expect(shown).toBe(
    '200 OK\n\n{\n  "seq": 9007199254740993,\n  "budget": 0.10000000000000000001,\n  "items": [\n    1,\n    "9007199254740993",\n    null\n  ]\n}',
  );
});

test("an answer that is no JSON is shown as it is", async () => {
  expect(await shownOf("plain <b>text</b>")).toBe("200 OK\n\nplain <b>text</b>");
});
