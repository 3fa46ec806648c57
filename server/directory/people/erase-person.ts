import { accountsNamed } from "../../store/people/accounts-named.ts";
import { eraseFromApprovals, eraseStoredAnswers, eraseUpstreamTokens } from "../../store/people/erased-people.ts";
import { tokenRef } from "../tools/oauth-tokens.ts";
import { invalidField } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";
import { endUsers } from "./end-users.ts";

/** The identifiers of a data subject that can name an end user of the gateway. */
interface NamedPerson {
  readonly gateway_user_id?: string | undefined;
  readonly gateway_user_username?: string | undefined;
  readonly subject_id?: string | undefined;
}

/**
 * Erases the end user behind a data subject and what other records hold about them. Returns the subject with the account's
 * ID added, so that later steps find everything recorded under it, and what was erased. Refuses identifiers that are not
 * of one person, because a wrong erasure cannot be undone.
 */
export async function erasePerson<Subject extends NamedPerson>(
  write: Write,
  tenantId: string,
  subject: Subject,
): Promise<{ subject: Subject; gone: { account: boolean; approvals: number } }> {
  const given = (names: readonly (string | undefined)[]) => names.filter((name) => name !== undefined);
  const named = { ids: given([subject.gateway_user_id, subject.subject_id]), usernames: given([subject.gateway_user_username]) };
  const [account, another] = await accountsNamed(write.trx, tenantId, named);
  // The username may have passed to another person since the ID was assigned.
  if (another !== undefined || (account !== undefined && named.ids.some((id) => id !== account.id)))
    throw invalidField("subject", "names more than one person");
  // If the account was deleted earlier, only what is recorded under the given identifiers can be found.
  const known = account === undefined ? named : { ids: [...named.ids, account.id], usernames: [...named.usernames, account.username] };
  const approvals = await eraseFromApprovals(write.trx, tenantId, known, write.now);
  for (const { principal_id: id, mcp_server_id: server } of await eraseUpstreamTokens(write.trx, tenantId, known.ids))
    write.notify(tenantId, "oauth_tokens", tokenRef({ tenantId, type: "user", id }, server));
  await eraseStoredAnswers(write.trx, tenantId, known.ids);
  if (account === undefined) return { subject, gone: { account: false, approvals } };
  await endUsers.remove(write, tenantId, account.id);
  return { subject: { ...subject, gateway_user_id: account.id }, gone: { account: true, approvals } };
}
