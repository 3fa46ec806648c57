import { AppShell } from "@gatehouse/web-kit/app-shell.tsx";
import { IconButton } from "@gatehouse/web-kit/button.tsx";
import { CommandPalette } from "@gatehouse/web-kit/command-palette.tsx";
import { MenuButton } from "@gatehouse/web-kit/menu.tsx";
import { ShortcutSheet } from "@gatehouse/web-kit/shortcut-sheet.tsx";
import { PageFrame } from "@gatehouse/web-kit/page.tsx";
import { useSession } from "@gatehouse/web-kit/session.ts";
import { ErrorState } from "@gatehouse/web-kit/states.tsx";
import { chooseTheme } from "@gatehouse/web-kit/theme.ts";
import { useQuery } from "@tanstack/react-query";
import { Outlet, useNavigate } from "@tanstack/react-router";
import {
  Bell,
  BookOpen,
  Bot,
  CircleUser,
  FileText,
  Gauge,
  Keyboard,
  Languages,
  Layers,
  LogOut,
  MessageSquare,
  Monitor,
  Moon,
  Search,
  ShieldCheck,
  Sun,
  UserRound,
  Wrench,
} from "lucide-react";
import { type ReactNode, useState } from "react";
import { useLiveFeed } from "./live-feed.ts";
import { portalApi, ownSession } from "./portal-client.ts";
import { signOutOfPortal } from "./sign-out.ts";
import { LANGUAGE_NAMES, translations, usePortalTexts } from "./translations.ts";

export function PortalFrame(): ReactNode {
  const t = usePortalTexts();
  const go = useNavigate();
  const session = useSession(ownSession);
  const [searching, setSearching] = useState(false);
  const [sheet, setSheet] = useState(false);
  useLiveFeed();
  const unread = useQuery({
    queryKey: ["notifications", "count"],
    queryFn: () => portalApi.call("GET /v1/portal/notifications/unread-count"),
  });
  const pending = useQuery({ queryKey: ["approvals", "count"], queryFn: () => portalApi.call("GET /v1/portal/approvals/pending-count") });
  const items = [
    { to: "/chat", label: t("navChat"), icon: MessageSquare },
    { to: "/approvals", label: t("navApprovals"), icon: ShieldCheck, count: pending.data?.pending_count ?? 0 },
    { to: "/tools", label: t("navTools"), icon: Wrench },
    { to: "/knowledge", label: t("navKnowledge"), icon: BookOpen },
    { to: "/files", label: t("navFiles"), icon: FileText },
    { to: "/jobs", label: t("navJobs"), icon: Layers },
    { to: "/tasks", label: t("navTasks"), icon: Bot },
    { to: "/notifications", label: t("navNotifications"), icon: Bell, count: unread.data?.unread_count ?? 0 },
    { to: "/alerts", label: t("navAlerts"), icon: Gauge },
    { to: "/profile", label: t("navProfile"), icon: UserRound },
  ];
  const themes = [
    { id: "light", label: `${t("theme")}: ${t("themeLight")}`, icon: Sun, run: () => chooseTheme("light") },
    { id: "dark", label: `${t("theme")}: ${t("themeDark")}`, icon: Moon, run: () => chooseTheme("dark") },
    { id: "system", label: `${t("theme")}: ${t("themeSystem")}`, icon: Monitor, run: () => chooseTheme("system") },
  ];
  const shortcuts = { id: "shortcuts", label: t("shortcuts"), icon: Keyboard, run: () => setSheet(true) };
  const leave = { id: "sign-out", label: t("signOut"), icon: LogOut, run: signOutOfPortal };
  const languages = translations
    .languages()
    .map((language) => ({ id: language, label: LANGUAGE_NAMES[language] ?? language, run: () => void translations.choose(language) }));
  return (
    <AppShell
      product={t("product")}
      navigation={[{ items }]}
      labels={{ skip: t("skip"), navigation: t("navigation"), openMenu: t("menuOpen"), closeMenu: t("menuClose") }}
      tools={
        <>
          <IconButton icon={Search} label={t("search")} onClick={() => setSearching(true)} />
          <MenuButton
            label={t("language")}
            trigger={<Languages aria-hidden size={18} />}
            items={languages.map(({ label, run }) => ({ label, onSelect: run }))}
            className="inline-flex size-9 items-center justify-center rounded-lg hover:bg-sunken"
          />
          <MenuButton
            label={session.state === "in" ? `${t("account")}: ${session.user.username}` : t("account")}
            trigger={
              <>
                <CircleUser aria-hidden size={20} />
                <span className="hidden max-w-40 truncate text-sm sm:inline">{session.state === "in" ? session.user.username : ""}</span>
              </>
            }
            items={[
              { label: t("navProfile"), icon: UserRound, onSelect: () => void go({ to: "/profile" }) },
              ...[shortcuts, ...themes, leave].map(({ label, icon, run }) => ({ label, icon, onSelect: run })),
            ]}
          />
        </>
      }
    >
      <Outlet />
      <CommandPalette
        open={searching}
        onOpenChange={setSearching}
        labels={{ title: t("searchTitle"), placeholder: t("searchPlaceholder"), nothing: t("searchNothing") }}
        commands={[
          ...items.map(({ to, label, icon }) => ({ id: to, label, icon, run: () => void go({ to }) })),
          shortcuts,
          ...themes,
          ...languages.map((language) => ({ ...language, icon: Languages, group: t("language") })),
          leave,
        ]}
      />
      <ShortcutSheet
        open={sheet}
        onOpenChange={setSheet}
        labels={{ title: t("shortcuts"), close: t("close") }}
        groups={[
          {
            title: t("product"),
            shortcuts: [
              { keys: ["?"], does: t("shortcutSheet") },
              { keys: ["Ctrl", "K"], does: t("searchPlaceholder") },
              { keys: ["Esc"], does: t("shortcutClose") },
            ],
          },
          {
            title: t("navChat"),
            shortcuts: [
              { keys: ["Enter"], does: t("shortcutSend") },
              { keys: ["Shift", "Enter"], does: t("shortcutLine") },
            ],
          },
        ]}
      />
    </AppShell>
  );
}

/** Shown when a page fails to render or load, for example because a new release has replaced its files. */
export function PortalFailed({ error }: { readonly error: unknown }): ReactNode {
  const t = usePortalTexts();
  return (
    <PageFrame product={t("product")} title={t("product")}>
      <ErrorState
        error={error}
        title={t("unreadable")}
        requestLabel={t("request")}
        retry={{ label: t("tryAgain"), run: () => location.reload() }}
      />
    </PageFrame>
  );
}

export function PortalNotFound(): ReactNode {
  const t = usePortalTexts();
  return (
    <PageFrame product={t("product")} title={t("notFoundTitle")}>
      <p>{t("notFound")}</p>
    </PageFrame>
  );
}
