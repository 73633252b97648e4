/** Sign-in page. A user with a session is redirected to the intended page, except with a one-time link, which may be for another account. */
import { Alert, Anchor, Button, Center, Divider, Paper, Stack, Text, Title } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import type { SignInProblem } from "../../domain/staff/Staff.ts"
import { pathAfterSignIn } from "../../domain/PathAfterSignIn.ts"
import { useAddress } from "../app/address.ts"
import { call } from "../app/api.ts"
import { useAnswer } from "../app/queries.ts"
import { SignInForm } from "../app/session.tsx"
import { Refusal } from "../parts/Refusal.tsx"

/** Messages of failed sign-ins, by the server's code in the address. */
const problems: Readonly<Record<SignInProblem, string>> = {
  wait: "Too many attempts failed. Wait a minute and try again.",
  unavailable: "Signing in is not possible right now. Try again in a moment.",
  role: "The identity provider gives you no role here, or your account is switched off. Ask an admin.",
  last_admin:
    "You are the last active admin of all operators, and the identity provider names another role or single operators for you. Make another admin first.",
  provider: "The identity provider did not answer, or did not sign you in, or it took too long. Begin again."
}

const isProblem = (problem: string): problem is SignInProblem => Object.hasOwn(problems, problem)

/** A one-time link: names its account, and a session that it would replace, and is redeemed by the button alone. */
function LinkedSignIn({ onSignedIn, ticket }: { readonly onSignedIn: () => void; readonly ticket: string }) {
  const link = useQuery({
    queryKey: ["sign_in.link", ticket],
    queryFn: () => call("sign_in.link", { payload: { ticket } }),
    retry: false,
    staleTime: Infinity
  })
  const present = useAnswer("session.show").data?.data.staff
  const [error, setError] = useState<Error>()
  const [isBusy, setBusy] = useState(false)
  const account = link.data?.data
  const redeem = () => {
    setBusy(true)
    call("sign_in.redeem", { payload: { ticket } }).then(onSignedIn, (refused: Error) => {
      setBusy(false)
      setError(refused)
    })
  }
  const shown = error ?? link.error
  return (
    <Stack>
      {shown !== null && <Refusal error={shown} />}
      {account !== undefined && (
        <>
          <Text size="sm">
            {account.is_new
              ? "This link makes the first account, an admin, and signs you in as it."
              : `This link signs you in as ${account.name}, once.`}
          </Text>
          {present !== undefined && (
            <Alert color="orange" variant="light" title={`This browser is signed in as ${present.name}`}>
              <Text size="sm">That session ends here.</Text>
              <Anchor size="sm" href="/">Stay signed in as {present.name}</Anchor>
            </Alert>
          )}
          <Button onClick={redeem} loading={isBusy}>Sign in as {account.name}</Button>
        </>
      )}
    </Stack>
  )
}

export default function SignInPage() {
  const [{ next, problem, ticket }] = useAddress()
  const go = () => location.assign(pathAfterSignIn(next))
  const session = useAnswer("session.show")
  const ways = useAnswer("sign_in.show")
  const isSignedIn = session.data !== undefined
  useEffect(() => {
    document.title = "Sign in · Pitboss"
  }, [])
  useEffect(() => {
    if (isSignedIn && ticket === undefined) location.replace(pathAfterSignIn(next))
  }, [isSignedIn, next, ticket])
  return (
    <Center component="main" mih="90vh" p="md">
      <Paper withBorder p="lg" w={380}>
        <Stack>
          <Title order={1} size="h3">Sign in to Pitboss</Title>
          {problem !== undefined && (
            <Refusal error={new Error(isProblem(problem) ? problems[problem] : "Signing in failed. Try again.")} />
          )}
          {ticket === undefined ? <SignInForm done={go} /> : <LinkedSignIn onSignedIn={go} ticket={ticket} />}
          {ticket === undefined && ways.data?.data.oidc === true && (
            <>
              <Divider label="or" />
              <Button
                component="a"
                variant="default"
                href={`/sign-in/oidc?next=${encodeURIComponent(pathAfterSignIn(next))}`}
              >
                Sign in with the identity provider
              </Button>
            </>
          )}
          <Text size="xs" c="dimmed">
            No account yet? An admin makes one, or prints a link: npm run -s backoffice -- staff ticket
          </Text>
        </Stack>
      </Paper>
    </Center>
  )
}
