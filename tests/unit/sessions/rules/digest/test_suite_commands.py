"""Which commands run tests, and what the exit code of a line says about them."""

from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.rules.digest.test_results import exit_code_tells

TESTS = """
pytest
pytest -q tests/login
.venv/bin/pytest -q
python -m pytest -x
python3.12 -X dev -m pytest
python -W error -m unittest tests.test_clock
python -m unittest discover
python manage.py test
tox -e py311
nox -s tests
npm test
npm run test
npm run jest
python -u manage.py test
bash -c -e pytest
npm run test:unit
npm --prefix web test
yarn test
yarn jest src
pnpm -F web test
pnpm vitest run
bun test
bun run test
npx jest
npx --yes vitest run
node --test
node node_modules/.bin/jest
go test ./...
cargo test
cargo +nightly test --workspace
cargo nextest run
make test
make -C sub check
make -j4 check
just test
ctest --test-dir build
./gradlew test
gradle :app:testDebugUnitTest
mvn -q test
./mvnw verify
dotnet test
bundle exec rspec
vendor/bin/phpunit
php artisan test
mix test
deno test
cd api && pytest
CI=1 NAME='a b' pytest
uv run pytest -q
uv run --with pytest-xdist -- pytest
poetry run python -m pytest
coverage run -m pytest
timeout 60 pytest
timeout -k 5 60s pytest
sudo -u ann pytest
sudo -E env PATH=/x pytest
nice -n 10 make test
time pytest
bash -lc 'cd api && pytest -q'
/bin/bash -c "source venv/bin/activate; pytest"
if pytest; then echo ok; fi
pytest 2>&1 | tail -5
docker ps; pytest
""".strip().split("\n")

OTHERS = """
grep pytest
grep -rn pytest .
ps aux | grep pytest
pip install pytest
uv pip install pytest
which pytest
echo pytest
echo $(pytest)
git commit -m "pytest; npm test"
git diff test
cat tests/test_x.py
ls tests
test -f x
bash test.sh
python test_x.py
python -c "import pytest"
node -e "test"
pytest --version
pytest --collect-only -q
cargo test --no-run
cargo build
go build ./...
npm run build
npm install --save-dev jest
yarn add jest
pnpm add -D vitest
bun install
make
make build
gradle build -x test
mvn package -DskipTests
uv run python x.py
true # pytest
""".strip().split("\n")


def test_a_command_that_runs_tests_is_recognised():
    for line in TESTS:
        assert exit_code_tells(line) is not None, line


def test_one_that_only_speaks_of_tests_is_not():
    for line in [*OTHERS, "", "cat > x <<EOF\npytest\nEOF"]:
        assert exit_code_tells(line) is None, line


def test_an_exit_code_counts_only_where_it_is_that_of_the_tests():
    for line, success, failure in [
        ("pytest", True, True),
        ("cd x && pytest", True, True),
        ("cd x; pytest\n", True, True),
        ("(cd x && pytest)", True, True),
        ("pytest && npm test", True, True),
        ("bash -lc 'cd x && pytest'", True, True),
        ("pytest && echo ok", True, False),
        ("pip install x && pytest", True, False),
        ("set -o pipefail; pytest | tail", True, False),
        ("pytest | tail", False, False),
        ("bash -lc 'pytest | tail'", False, False),
        ("pytest; echo $?", False, False),
        ("pytest || true", False, False),
        ("pytest &", False, False),
        ("for i in 1 2; do pytest; done", False, False),
        ("make build || pytest", False, True),
        ("pytest; npm test", False, True),
    ]:
        told = exit_code_tells(line)
        assert (told.success, told.failure) == (success, failure), line


@given(st.lists(st.sampled_from(["bash -c", "'", '"', "yarn", "run", "pytest", "-m", "sudo", "&&", "|", "="])))
def test_no_line_is_too_odd(words):
    told = exit_code_tells(" ".join(words))
    assert told is None or (told.success in (True, False) and told.failure in (True, False))
    assert told is None or {"pytest", "yarn"} & set(words), "a line without a test runner runs no tests"


def test_a_very_long_line_is_no_trouble():
    assert exit_code_tells("yarn " * 20_000) is None
    assert exit_code_tells("sudo " * 20_000) is None
    assert exit_code_tells("a; " * 20_000 + "pytest") is None  # what lies so far behind is not looked at


def test_many_wrappers_of_nothing_are_read_once():
    assert exit_code_tells("yarn exec " * 100 + "zzz") is None
