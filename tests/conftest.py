def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="every variant of every model")
