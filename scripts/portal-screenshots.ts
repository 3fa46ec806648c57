import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { launchChromium, watchedPage } from "../tests/browser/chromium.ts";
import { signInOn } from "../tests/browser/browser-world.ts";

/** Takes the screenshots of docs/guides/portal.md from a freshly started gateway. Arguments: `ADDRESS USER PASSWORD`. */
const [address = "", username = "", password = ""] = process.argv.slice(2);
const folder = fileURLToPath(new URL("../docs/guides/images/", import.meta.url));
mkdirSync(folder, { recursive: true });

const browser = await launchChromium();
const desk = await watchedPage(browser, { width: 1200, height: 760 });
await desk.page.goto(`${address}/portal/chat`);
await signInOn(desk.page, username, password);
await desk.page.getByRole("textbox", { name: "Message" }).fill("Which models may my team use, and what do they cost?");
await desk.page.getByRole("button", { name: "Send", exact: true }).click();
await desk.page.getByRole("button", { name: "Another answer" }).waitFor();
await desk.page.screenshot({ path: `${folder}portal-chat.png` });

const phone = await watchedPage(browser, { width: 360, height: 720 });
await phone.page.goto(`${address}/portal/approvals`);
await signInOn(phone.page, username, password);
await phone.page.getByRole("heading", { level: 1, name: "Approvals" }).waitFor();
await phone.page.locator("[role=status].animate-pulse").first().waitFor({ state: "detached" });
await phone.page.screenshot({ path: `${folder}portal-approvals.png` });
await browser.close();
