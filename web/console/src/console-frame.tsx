import { AppShell, type NavigationGroup } from "@gatehouse/web-kit/app-shell.tsx";
import { IconButton } from "@gatehouse/web-kit/button.tsx";
import { type Command, CommandPalette } from "@gatehouse/web-kit/command-palette.tsx";
import { MenuButton } from "@gatehouse/web-kit/menu.tsx";
import { type ShortcutGroup, ShortcutSheet } from "@gatehouse/web-kit/shortcut-sheet.tsx";
import { PageFrame } from "@gatehouse/web-kit/page.tsx";
import { ErrorState } from "@gatehouse/web-kit/states.tsx";
import { useSession } from "@gatehouse/web-kit/session.ts";
import { chooseTheme } from "@gatehouse/web-kit/theme.ts";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import {
  BellRing,
  ChartLine,
  CircleCheck,
  CircleUser,
  ClipboardCheck,
  Eraser,
  FileInput,
  FolderSync,
  Globe,
  History,
  Code,
  House,
  Keyboard,
  KeySquare,
  Layers,
  Library,
  Link2,
  LogOut,
  Megaphone,
  Monitor,
  Moon,
  Radar,
  ScrollText,
  Search,
  SearchCheck,
  Sun,
  UserRound,
} from "lucide-react";
import { Fragment, lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { adminSession } from "./admin-client.ts";
import { PRODUCT } from "./product.ts";
import { signOutOfConsole } from "./sign-out.ts";
import { useTenant } from "./tenant.ts";
import { RECORD_KINDS } from "./records/record-kinds.ts";

const AREAS = ["Models", "Tools and agents", "Bounds", "Assurance", "Organization", "People"] as const;

/** Pages of an area that do not belong to a kind of record. */
const MORE_OF: Partial<Record<(typeof AREAS)[number], NavigationGroup["items"]>> = {
  Models: [{ to: "/model-catalog", label: "Model catalogue", icon: Library }],
  "Tools and agents": [{ to: "/agent-signing-keys", label: "Card signing keys", icon: KeySquare }],
  Assurance: [{ to: "/findings", label: "Findings", icon: SearchCheck }],
  People: [{ to: "/provisioning-log", label: "Provisioning log", icon: FolderSync }],
};

/** The navigation; pages only for system administrators are left out for others. */
const navigationFor = (isSystem: boolean): readonly NavigationGroup[] => [
  {
    items: [
      { to: "/", label: "Home", icon: House },
      { to: "/audit", label: "Audit explorer", icon: ScrollText },
      { to: "/chains", label: "Audit chains", icon: Link2 },
      { to: "/usage", label: "Usage and runs", icon: ChartLine },
      { to: "/batch-jobs", label: "Batch jobs", icon: Layers },
      { to: "/approvals", label: "Approvals", icon: CircleCheck },
      { to: "/alerts", label: "Alerts", icon: BellRing },
      { to: "/admin-log", label: "Admin log", icon: History },
    ],
  },
  ...AREAS.map((area) => ({
    label: area,
    items: [
      ...RECORD_KINDS.filter((kind) => kind.area === area && (isSystem || kind.needsSystem !== true)).map(({ slug, title, icon }) => ({
        to: `/manage/${slug}`,
        label: title,
        icon,
      })),
      ...(MORE_OF[area] ?? []),
    ],
  })),
  {
    label: "Compliance",
    items: [
      { to: "/compliance", label: "Reports", icon: ClipboardCheck },
      { to: "/residency", label: "Residency", icon: Globe },
      { to: "/usage-import", label: "Usage import", icon: FileInput },
      { to: "/discovery", label: "Discovery", icon: Radar },
      { to: "/notice", label: "AI notice", icon: Megaphone },
      { to: "/erasure", label: "Erasure", icon: Eraser },
    ],
  },
];

const AccountPage = lazy(() => import("./pages/account.tsx").then((page) => ({ default: page.AccountPage })));

const TenantChoice = lazy(() => import("./tenant-choice.tsx").then((file) => ({ default: file.TenantChoice })));

const LABELS = { skip: "Skip to content", navigation: "Console", openMenu: "Open menu", closeMenu: "Close menu" };
const SHORTCUTS: readonly ShortcutGroup[] = [
  {
    title: "Everywhere",
    shortcuts: [
      { keys: ["?"], does: "Show these shortcuts" },
      { keys: ["Ctrl", "K"], does: "Go to a page or do something (⌘ K on a Mac)" },
      { keys: ["/"], does: "Search on this page" },
      { keys: ["Esc"], does: "Close what is open" },
    ],
  },
  {
    title: "In a list of rows",
    shortcuts: [
      { keys: ["J"], does: "Down to the next one" },
      { keys: ["K"], does: "Up to the one before" },
      { keys: ["Home"], does: "To the first" },
      { keys: ["End"], does: "To the last that is loaded" },
    ],
  },
];
const PALETTE = { title: "Go to", placeholder: "Go to a page or do something", nothing: "No matches." };

export function ConsoleFrame(): ReactNode {
  const [searching, setSearching] = useState(false);
  const [sheet, setSheet] = useState(false);
  const session = useSession(adminSession);
  const go = useNavigate();
  const isSystem = session.state === "in" && session.user["role"] === "system_admin";
  const navigation = navigationFor(isSystem);
  const commands: readonly Command[] = [
    ...navigation.flatMap(({ label, items }) =>
      items.map((item) => ({
        id: item.to,
        label: item.label,
        icon: item.icon,
        ...(label === undefined ? {} : { group: label }),
        run: () => void go({ to: item.to }),
      })),
    ),
    { id: "account", label: "Your account", icon: UserRound, run: () => void go({ to: "/account" }) },
    { id: "reference", label: "API reference", icon: Code, run: () => location.assign("/docs/") },
    { id: "shortcuts", label: "Keyboard shortcuts", icon: Keyboard, run: () => setSheet(true) },
    { id: "light", label: "Light theme", icon: Sun, run: () => chooseTheme("light") },
    { id: "dark", label: "Dark theme", icon: Moon, run: () => chooseTheme("dark") },
    { id: "system", label: "Theme of the system", icon: Monitor, run: () => chooseTheme("system") },
    { id: "sign-out", label: "Sign out", icon: LogOut, run: signOutOfConsole },
  ];
  return (
    <AppShell
      product={PRODUCT}
      navigation={navigation}
      labels={LABELS}
      tools={
        <>
          {isSystem && (
            <Suspense>
              <TenantChoice />
            </Suspense>
          )}
          <IconButton icon={Search} label="Search (Ctrl K)" onClick={() => setSearching(true)} />
          <MenuButton
            label={session.state === "in" ? `Account: ${session.user.username}` : "Account"}
            trigger={
              <>
                <CircleUser aria-hidden size={20} />
                <span className="hidden text-sm sm:inline">{session.state === "in" ? session.user.username : ""}</span>
              </>
            }
            items={commands.slice(-7).map(({ label, icon, run }) => ({ label, ...(icon === undefined ? {} : { icon }), onSelect: run }))}
          />
        </>
      }
    >
      {session.state === "in" && session.user.two_factor === "owed" ? <FactorOwed /> : <PagesOfTenant />}
      <CommandPalette commands={commands} open={searching} onOpenChange={setSearching} labels={PALETTE} />
      <ShortcutSheet groups={SHORTCUTS} open={sheet} onOpenChange={setSheet} labels={{ title: "Keyboard shortcuts", close: "Close" }} />
    </AppShell>
  );
}

/** Resets all page state, including half-filled forms, when the tenant changes. */
function PagesOfTenant(): ReactNode {
  const session = useSession(adminSession);
  const tenant = useTenant();
  const go = useNavigate();
  // Tenant administrators cannot choose a tenant: a URL that names one would be refused on every page, so it is corrected.
  const isMisled = tenant !== undefined && session.state === "in" && session.user["role"] !== "system_admin";
  useEffect(() => {
    if (isMisled) void go({ to: ".", search: ((now: object) => ({ ...now, tenant: undefined })) as never, replace: true });
  }, [isMisled, go]);
  if (isMisled) return null;
  return (
    <Fragment key={tenant ?? ""}>
      <Outlet />
    </Fragment>
  );
}

function FactorOwed(): ReactNode {
  return (
    <>
      <p role="status" className="bg-warn-soft px-4 py-3 text-warn sm:px-8">
        Your tenant requires two-factor sign-in. Set it up to continue.
      </p>
      <Suspense>
        <AccountPage />
      </Suspense>
    </>
  );
}

/** Shown when a page fails to render or load, for example because a new release has replaced its files. */
export function ConsoleFailed({ error }: { readonly error: unknown }): ReactNode {
  return (
    <PageFrame product={PRODUCT} title="This page could not be displayed">
      <ErrorState
        error={error}
        title="Something failed in this browser"
        requestLabel="Request"
        retry={{ label: "Reload", run: () => location.reload() }}
      />
    </PageFrame>
  );
}

export function ConsoleNotFound(): ReactNode {
  return (
    <PageFrame product={PRODUCT} title="Page not found">
      <p>
        The address may belong to another version.{" "}
        <Link to="/" className="text-accent underline">
          Go to the home page
        </Link>
        .
      </p>
    </PageFrame>
  );
}
