import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** While colours transition to those of the theme they mix both themes, so wait until the frames after the transitions are drawn. */
function drawn(): Promise<unknown> {
  const ending = document.getAnimations().filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime));
  return Promise.allSettled(ending.map(({ finished }) => finished)).then(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
}

const ALL_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** The only rules whose findings depend on the theme. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/**
 * The violations that axe finds on the page as it is now, one per line. Injected through the debugger, which the page's policy does not
 * block.
 */
export async function accessibilityFindings(page: Page): Promise<string[]> {
  return findings(page, ALL_RULES);
}

/** What a theme alone can make inaccessible, on a page with no other findings in another theme. */
export async function colourFindings(page: Page): Promise<string[]> {
  return findings(page, COLOUR_RULES);
}

async function findings(page: Page, rules: readonly string[]): Promise<string[]> {
  await page.evaluate(drawn);
  const session = await page.context().newCDPSession(page);
  try {
    const there = await session.send("Runtime.evaluate", { expression: "typeof axe" });
    if (there.result.value === "undefined") await session.send("Runtime.evaluate", { expression: AXE });
    const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
      expression: `axe.run(document, { runOnly: ${JSON.stringify(rules)}, resultTypes: ["violations"] }).then(({ violations }) => JSON.stringify(violations))`,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    const found = JSON.parse(String(result.value)) as Finding[];
    return found.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary ?? ""}`),
    );
  } finally {
    await session.detach();
  }
}
