import { type Approval, approvalResolution } from "@gatehouse/contracts/approvals";
import { approveApproval, findApproval, rejectApproval } from "../../directory/tools/approvals.ts";
import { logInPortalUser, logInWithCode, type PortalSession } from "../../directory/people/portal/portal-logins.ts";
import type { Call } from "../../road/call.ts";
import { openEnvelope } from "../../road/admission/envelope.ts";
import { ownAnswer, type WholeAnswer } from "../../road/answer.ts";
import { type Refusal, refuse, Refused } from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";
import { isStorableText } from "../../kernel/text/storable.ts";
import { escaped, page, PAGE_HEADERS } from "../../wire/http/html-page.ts";
import { check } from "../../wire/http/strict-input.ts";
import { portalOperation, type PortalRoute } from "./portal-operation.ts";
import type { PortalRequest } from "./portal-request.ts";

/**
 * The page for clients that can show links: the state of an approval, and a form to decide it for anyone who signs in there and may. The
 * ticket in the URL only allows viewing, without the call's arguments.
 */

const PATH = "/v1/portal/approvals/:id/page";
const RENEW_SECONDS = 5;
const STATE: Readonly<Record<Approval["status"], string>> = {
  pending: "Nobody has decided yet.",
  approved: "It was approved. You can go back: the call goes on.",
  rejected: "It was rejected.",
  expired: "Its time has run out.",
};

type PageRequest = PortalRequest<unknown, unknown>;

export const approvalPageRoutes: readonly PortalRoute[] = [
  portalOperation({
    admits: "anyone",
    method: "GET",
    path: PATH,
    name: "approval_page",
    summary: "A page to decide an approval on",
    answer: { status: 200, media: "text/html" },
    async run(request) {
      const { approval, ticket } = await shown(request);
      return approval.status === "pending" && queryOf(request.call).has("decide")
        ? decidePage(approval, ticket)
        : statePage(approval, ticket);
    },
  }),
  portalOperation({
    admits: "anyone",
    authenticates: true,
    method: "POST",
    path: PATH,
    name: "approval_page",
    summary: "A page to decide an approval on",
    answer: { status: 200, media: "text/html" },
    form: true,
    async run(request) {
      const { services, call, bytes } = request;
      const form = new URLSearchParams(new TextDecoder().decode(bytes));
      for (const value of form.values()) if (!isStorableText(value)) return refuse("invalid_body", "The form holds what no text holds.");
      const { approval, ticket, tenantId } = await shown(request);
      const decision = form.get("decision");
      if (approval.status !== "pending") return statePage(approval, ticket);
      if (decision !== "approve" && decision !== "reject") return refuse("invalid_body", "Choose whether to approve or to reject.");
      const { note } = check(approvalResolution, { note: form.get("note")?.trim() || null }, "invalid_body");
      const { user } = await signIn(request, tenantId, form);
      Object.assign(call.row, {
        gateway_user_id: user.id,
        gateway_user_username: user.username,
        subject_kind: "user",
        subject_id: user.id,
      });
      // Somebody else may know this password.
      if (user.must_change_password) return refuse("password_change_required");
      const viewer = { requesterId: user.id, groupIds: (await services.users.find(tenantId, user.id))?.group_ids ?? [] };
      const resolve = decision === "approve" ? approveApproval : rejectApproval;
      await resolve(
        services.directory,
        tenantId,
        approval.id,
        { name: user.username, viewer, account: { plane: "portal", id: user.id } },
        note ?? null,
      );
      return statePage((await findApproval(services.directory, tenantId, approval.id)) ?? approval, ticket);
    },
  }),
].map((route) => ({ ...route, surface: (services) => ({ ...route.surface(services), refusal }) }));

/** Links back to the form, for example after a mistyped password: a form is posted to its own URL. */
function refusal({ message }: Refusal, call: Call | null): { headers: Record<string, string>; body: string } {
  const back = call?.method === "POST" ? `<p><a href="${escaped(new URL(call.url).search)}">Back to the form</a></p>` : "";
  return { headers: PAGE_HEADERS, body: page("This did not work", `<p>${escaped(message)}</p>${back}`) };
}

const queryOf = (call: Call) => new URL(call.url).searchParams;

/** The approval that the URL's ticket is for. The audit row belongs to the approval's tenant. */
async function shown({ services, call, params }: PageRequest): Promise<{ approval: Approval; ticket: string; tenantId: string }> {
  const { directory } = services;
  const ticket = queryOf(call).get("ticket") ?? "";
  const id = params.id ?? "";
  const ticketFacts = isUuid(id) ? openEnvelope(directory.secrets, "approval", id, ticket, directory.clock.now()) : null;
  const tenantId = typeof ticketFacts?.tenantId === "string" ? ticketFacts.tenantId : null;
  // Nobody can sign in at a disabled tenant, so not here either.
  const isOpen = tenantId !== null && (await services.snapshots.tenant(tenantId))?.enabled === true;
  const approval = isOpen ? await findApproval(directory, tenantId, id) : null;
  if (tenantId === null || approval === null) throw new Refused(refuse("not_found"));
  call.row.tenant_id = tenantId;
  return { approval, ticket, tenantId };
}

async function signIn({ services, origin }: PageRequest, tenantId: string, form: URLSearchParams): Promise<PortalSession> {
  const first = await logInPortalUser(
    services.logins,
    { id: tenantId },
    { username: form.get("username") ?? "", password: form.get("password") ?? "" },
    origin,
  );
  return "tempToken" in first
    ? logInWithCode(services.logins, { tempToken: first.tempToken, code: (form.get("code") ?? "").trim() }, origin)
    : first;
}

function statePage(approval: Approval, ticket: string): WholeAnswer {
  const decide = approval.status === "pending" ? `<p><a href="${decideAddress(ticket)}">I may decide this</a></p>` : "";
  return written(
    page(
      "Approval of a tool call",
      `${factsOf(approval)}<p><strong>${STATE[approval.status]}</strong></p>${decide}`,
      approval.status === "pending" ? RENEW_SECONDS : null,
    ),
  );
}

const decideAddress = (ticket: string) => escaped(`?ticket=${encodeURIComponent(ticket)}&decide=1`);

function decidePage(approval: Approval, ticket: string): WholeAnswer {
  const field = (name: string, label: string, rest: string) =>
    `<label for="${name}">${label}</label><input id="${name}" name="${name}" ${rest}>`;
  const fields =
    field("username", "User name", 'autocomplete="username" required') +
    field("password", "Password", 'type="password" autocomplete="current-password" required') +
    field("code", "Code of your authenticator, if you use one", 'inputmode="numeric" autocomplete="one-time-code"') +
    field("note", "Note", 'maxlength="4000"');
  const form =
    `<form method="post" action="${decideAddress(ticket)}">${fields}<button class="main" name="decision" ` +
    `value="approve">Approve</button><button name="decision" value="reject">Reject</button></form>`;
  return written(
    page(
      "Decide on a tool call",
      `${factsOf(approval)}<p>Sign in to show that you may decide. Nobody decides on what they asked for themselves. The ` +
        `arguments of the call stand in the portal.</p>${form}`,
    ),
  );
}

function factsOf({
  server_name: server,
  capability_name: name,
  requester_display: who,
  created_at: created,
  expires_at: expires,
}: Approval): string {
  return (
    `<p><strong>${escaped(who)}</strong> asks to call <code>${escaped(name)}</code> of ` +
    `<strong>${escaped(server)}</strong>.</p><p>Asked ${moment(created)}, good until ${moment(expires)}.</p>`
  );
}

const moment = (iso: string) => `<time datetime="${escaped(iso)}">${escaped(`${iso.slice(0, 16).replace("T", " ")} UTC`)}</time>`;

const written = (html: string) => ownAnswer(200, PAGE_HEADERS, html);
